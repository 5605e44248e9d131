/** Requests that are not what the interface takes: their address, method, media type, size and shape. */
import { Effect } from "effect"
import {
  type Asked,
  asRich,
  chat,
  embed,
  image,
  type Json,
  quote,
  rerank,
  row,
  transcription,
  transcriptionForm,
  video,
  withHeaders
} from "./Row.ts"
import { Surface, smallSettings } from "./Surface.ts"

const asOperator = (asked: Asked) =>
  Effect.map(Surface, ({ adminToken }) => ({ ...asked, key: adminToken }))

const gone = (path: string) => ({
  message: `Nothing is served at ${path}; GET /openapi.json lists what is`
})

const meant = (path: string, call: string) => ({
  message: `Nothing is served at ${path}; did you mean ${call}?`
})

const wrongMethod = (method: string, path: string, allow: ReadonlyArray<string>) =>
  row("method_not_allowed", `${method} ${path}`, asRich({ path, method }), {
    message: `${method} is not served at ${path}; ${allow.join(" or ")} is`,
    more: { allow },
    headers: { allow: allow.join(", ") }
  })

const addresses = [
  row("not_found", "a path nobody serves", asRich({ path: "/v1/nothing" }), gone("/v1/nothing")),
  row(
    "not_found",
    "a path without its version",
    asRich({ ...image(), path: "/images/generations" }),
    meant("/images/generations", "POST /v1/images/generations")
  ),
  row(
    "not_found",
    "a query behind it",
    asRich({ path: "/v2/models?a=b" }),
    meant("/v2/models", "GET /v1/models")
  ),
  row("not_found", "a receipt nobody has", asRich({ path: "/v1/usage/us_nobody" }), {
    message: "No such usage record"
  }),
  row(
    "not_found",
    "an organisation nobody made",
    asOperator({ path: "/admin/v1/organizations/org_nobody" }),
    { message: "No such organisation" }
  ),
  wrongMethod("GET", "/v1/chat/completions", ["POST"]),
  wrongMethod("PUT", "/v1/images/generations", ["POST"]),
  wrongMethod("POST", "/v1/models", ["GET"]),
  wrongMethod("POST", "/admin/v1/catalog", ["GET", "PUT"])
]

const tooLarge = (bytes: number) => ({
  message: `The body of this request may have at most ${bytes} bytes`
})
const { maxBodyBytes, maxMediaBodyBytes } = smallSettings
const long = "x".repeat(maxMediaBodyBytes)

const manyFields = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, "x"]))

const sizes = [
  row(
    "payload_too_large",
    "a video order",
    asRich(video({ prompt: long })),
    tooLarge(maxMediaBodyBytes)
  ),
  row("payload_too_large", "a chat", asRich(chat({ user: long })), tooLarge(maxMediaBodyBytes)),
  row(
    "payload_too_large",
    "a form",
    asRich(transcriptionForm({ prompt: long })),
    tooLarge(maxMediaBodyBytes)
  ),
  row("payload_too_large", "a form of many parts", asRich(transcriptionForm(manyFields)), {
    message: "The form may have at most 100 parts"
  }),
  row(
    "payload_too_large",
    "an operator's body, of which less is taken",
    asOperator({
      path: "/admin/v1/organizations",
      json: { name: "x".repeat(maxBodyBytes) }
    }),
    tooLarge(maxBodyBytes)
  )
]

const typed = (asked: Asked, contentType: string) =>
  asRich(withHeaders(asked, { "content-type": contentType }))

const types = [
  row("unsupported_media_type", "plain text", typed(video(), "text/plain"), {
    message: 'Send the body as application/json, not "text/plain"'
  }),
  row(
    "unsupported_media_type",
    "a form where none is taken",
    typed(image(), "multipart/form-data; boundary=b"),
    { message: 'Send the body as application/json, not "multipart/form-data; boundary=b"' }
  ),
  row(
    "unsupported_media_type",
    "what a browser's form sends",
    typed(quote(), "application/x-www-form-urlencoded"),
    { message: 'Send the body as application/json, not "application/x-www-form-urlencoded"' }
  ),
  row(
    "unsupported_media_type",
    "plain text where forms are taken",
    typed(transcription(), "text/plain"),
    { message: 'Send the body as application/json or multipart/form-data, not "text/plain"' }
  ),
  row(
    "unsupported_media_type",
    "a body that says it is compressed",
    asRich(withHeaders(chat(), { "content-encoding": "gzip" })),
    { message: 'Send the body without a content-encoding, not as "gzip"' }
  )
]

/** One fault, said in the message with its path. */
const invalid = (when: string, asked: Asked, path: string, expected: string) =>
  row("invalid_request", when, asRich(asked), { message: `${path}: ${expected}`, param: path })

const REQUIRED = "This field is required"
const raw = (asked: Asked, body: string): Asked => {
  const { json: _, ...rest } = asked
  return { ...rest, body }
}
const deep = `${"[".repeat(70)}${"]".repeat(70)}`

const bodies = [
  row("invalid_request", "a body that is no JSON", asRich(raw(video(), "{")), {
    message:
      "Expected a valid JSON body: a field name in double quotes or } is expected at line 1, column 2"
  }),
  row("invalid_request", "a body that is no object", asRich(raw(image(), "[]")), {
    message: "Expected a JSON object as the body"
  }),
  row("invalid_request", "a body of many levels", asRich(raw(chat(), deep)), {
    message: "The body may have at most 64 levels"
  }),
  invalid("no model", video({ model: undefined }), "model", REQUIRED),
  invalid("no prompt", image({ prompt: undefined }), "prompt", REQUIRED),
  invalid("no messages", chat({ messages: undefined }), "messages", REQUIRED),
  invalid("no input", embed({ input: undefined }), "input", REQUIRED),
  invalid("no model to quote", quote({ model: undefined }), "model", REQUIRED),
  invalid("no model to rank by", rerank({ model: undefined }), "model", REQUIRED),
  invalid("no model in a form", transcriptionForm({ model: "" }), "model", REQUIRED),
  row("invalid_request", "nothing to make a video from", asRich(video({ prompt: null })), {
    message: "Give a prompt, a content block or some media to make the video from",
    param: "prompt"
  }),
  invalid(
    "a length that is no number",
    video({ duration: "8" }),
    "duration",
    "Expected a whole number of seconds, without quotes, or null"
  ),
  invalid(
    "half a second",
    video({ duration: 7.5 }),
    "duration",
    "Expected a whole number of seconds"
  ),
  invalid(
    "a resolution that is no text",
    video({ resolution: 720 }),
    "resolution",
    "Expected a resolution such as 720p, or null"
  ),
  invalid(
    "a file's name for an image",
    video({ image: "cat.png" }),
    "image",
    "Expected an http, https or data URL, or the id of a file"
  ),
  invalid(
    "a block of no kind",
    video({ content: [{ type: "text", text: "x" }, { type: "smell" }] }),
    "content[1]",
    "Expected a block of type text, image_url, audio_url or video_url"
  ),
  invalid(
    "a bad role",
    video({ content: [{ type: "image_url", image_url: "https://x.test/1.png", role: "hero" }] }),
    "content[0].role",
    'Expected "reference_image" | "first_frame" | "middle_frame" | "last_frame"'
  ),
  invalid(
    "a flag that is no ratio",
    video({ prompt: `x --ratio ${"9".repeat(40)}` }),
    "ratio",
    "Expected an aspect ratio such as 16:9 behind --ratio"
  ),
  invalid("11 images", image({ n: 11 }), "n", "Expected a whole number from 1 to 10"),
  invalid("half an image", image({ n: 1.5 }), "n", "Expected a whole number from 1 to 10"),
  invalid(
    "no token",
    chat({ max_tokens: 0 }),
    "max_tokens",
    "Expected a whole number from 1 to 10000000"
  ),
  invalid("no image", image({ n: 0 }), "n", "Expected a whole number from 1 to 10"),
  invalid(
    "an unknown form of answer",
    image({ response_format: "svg" }),
    "response_format",
    'Expected "url" | "b64_json"'
  ),
  invalid(
    "a fault in an order to quote",
    quote({ duration: "8" }),
    "duration",
    "Expected a whole number of seconds, without quotes, or null"
  ),
  invalid(
    "a modality that is none",
    { path: "/v1/models?modality=smell" },
    "modality",
    "Expected one of chat, language, vlm, image-text, embedding, vector, rerank, image, tts, asr, video, omni"
  ),
  invalid(
    "a wait beyond the longest",
    { path: "/v1/videos/vt_x?wait=61" },
    "wait",
    "Expected a whole number from 0 to 60"
  ),
  invalid(
    "an Idempotency-Key with a space",
    withHeaders(video(), { "idempotency-key": "a b" }),
    "idempotency-key",
    "Expected 1 to 255 visible ASCII characters"
  ),
  invalid(
    "a page after an entry of no list",
    { path: "/v1/usage?after=us_nobody" },
    "after",
    "Expected the id of an entry of this list"
  )
]

const operatorFault = (
  when: string,
  asked: Asked,
  faults: ReadonlyArray<{ readonly path: string; readonly message: string }>,
  message: string
) =>
  row("invalid_request", when, asOperator(asked), {
    message,
    param: faults[0]?.path ?? null,
    ...(faults.length > 1 || message.startsWith("The catalog") ? { more: { faults } } : {})
  })

const catalog = (more: Json): Asked => ({
  path: "/admin/v1/catalog",
  method: "PUT",
  json: { channels: [], models: [], mounts: [], ...more }
})

const operators = [
  operatorFault(
    "an operator's body with two faults",
    { path: "/admin/v1/organizations", json: { nane: "x" } },
    [
      { path: "nane", message: "There is no such field" },
      { path: "name", message: REQUIRED }
    ],
    "nane: There is no such field"
  ),
  operatorFault(
    "a catalog that contradicts itself",
    catalog({
      models: [
        { id: "m", modality: "video", protocol: "vp_a" },
        { id: "m", modality: "video", protocol: "vp_a" }
      ],
      mounts: [{ model: "ghost", channel: "nowhere" }]
    }),
    [
      { path: "models[1].id", message: '"m" is listed twice' },
      { path: "mounts[0].model", message: 'no model is called "ghost"' },
      { path: "mounts[0].channel", message: 'no channel is called "nowhere"' }
    ],
    'The catalog contradicts itself in 3 place(s); nothing was changed. First: models[1].id: "m" is listed twice'
  )
]

export const requestRows = [...addresses, ...sizes, ...types, ...bodies, ...operators]
