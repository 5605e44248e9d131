/** Orders and answers of the vendor's messages, which a family of the relay shares. */
import { IMAGE, SECOND_IMAGE } from "./blocks.ts"
import { lost, refused } from "./failures.ts"
import type { ImageSubject } from "./ImageAdapter.suite.ts"

const FIRST = "https://files.test/1.png?Expires=1"
const SECOND = "https://files.test/2.png?Expires=1"

const body = (content: ReadonlyArray<object>, parameters: object) => ({
  model: "m-1",
  input: { messages: [{ role: "user", content }] },
  parameters
})
const text = { text: "a lighthouse" }

const choice = (...content: ReadonlyArray<unknown>) => ({
  finish_reason: "stop",
  message: { role: "assistant", content }
})
const answer = (...choices: ReadonlyArray<unknown>) => ({
  output: { choices, finished: true },
  usage: { image_count: 1 },
  request_id: "r-1"
})
const image = (url: unknown) => ({ type: "image", image: url })
const made = (...urls: ReadonlyArray<string>) => ({
  // The clock of a test starts at 0.
  created: 0,
  data: urls.map((url) => ({ url }))
})

const flat = (code: string) => ({ code, message: `fault ${code}`, request_id: "r-1" })
const snake = { error: { code: "invalid_api_key", message: "who?" } }
const empty = { output: { choices: [] } }

export const good = answer(choice(image(FIRST)))

export const formsOfMessages = (path: string) => {
  const wire = (
    says: string,
    more: object,
    parameters: { readonly n: number; readonly [field: string]: unknown },
    content: ReadonlyArray<object> = [text],
    simulated = true
  ) => ({
    says,
    body: { prompt: "a lighthouse", ...more },
    path,
    wire: body(content, parameters),
    ...(simulated ? { images: parameters.n } : {})
  })

  return {
    upstreamModel: "m-1",
    wires: [
      wire("a prompt alone asks for one image", {}, { n: 1 }),
      wire("a null is as good as nothing", { n: null, size: null, image: null }, { n: 1 }),
      ...[1, 10].map((n) => wire(`${n} images are ordered as such`, { n }, { n }, [text], n === 1)),
      ...[
        ["1280x720", "1280*720"],
        ["1280X720", "1280*720"],
        ["1280*720", "1280*720"],
        ["2K", "2K"],
        ["auto", "auto"],
        ["1024x", "1024x"],
        ["1x2x3", "1x2x3"]
      ].map(([size, sent]) =>
        wire(
          `the size ${size} goes out as ${sent}`,
          { size },
          { size: sent, n: 1 },
          [text],
          sent === "1280*720" || sent === "2K"
        )
      ),
      wire("a reference goes before the text", { image: IMAGE }, { n: 1 }, [
        { image: IMAGE },
        text
      ]),
      wire(
        "references come from image, images and image_url in this order, also inline",
        {
          image_url: { url: "data:image/png;base64,iVBORw0KGgo=" },
          images: [{ url: SECOND_IMAGE }, IMAGE],
          image: IMAGE
        },
        { n: 1 },
        [
          { image: IMAGE },
          { image: SECOND_IMAGE },
          { image: IMAGE },
          { image: "data:image/png;base64,iVBORw0KGgo=" },
          text
        ],
        false
      ),
      wire(
        "the vendor's own fields go out as parameters",
        { negative_prompt: "rain", prompt_extend: false, watermark: true, seed: 7 },
        { n: 1, negative_prompt: "rain", prompt_extend: false, watermark: true, seed: 7 }
      ),
      wire(
        "fields of a wrong type stay here",
        { negative_prompt: 7, prompt_extend: "no", watermark: null, seed: 1.5 },
        { n: 1 }
      ),
      wire(
        "no second number of images and no base64 can be smuggled in",
        {
          n: 2,
          parameters: { n: 9 },
          input: { messages: [] },
          num: 9,
          response_format: "b64_json",
          quality: "hd"
        },
        { n: 2 }
      )
    ],
    good,
    results: [
      { says: "an image is its address", reply: good, result: made(FIRST) },
      {
        says: "images stand in several choices",
        reply: answer(choice(image(FIRST)), choice(image(SECOND))),
        result: made(FIRST, SECOND)
      },
      {
        says: "images stand in one choice, with texts between them",
        reply: answer(
          choice({ text: "as you wished" }, image(FIRST), { type: "text" }, image(SECOND))
        ),
        result: made(FIRST, SECOND)
      },
      {
        says: "an item needs no type, and what cannot be read is skipped",
        reply: answer(null, { message: null }, choice(image(""), image(7), { image: FIRST }, null)),
        result: made(FIRST)
      },
      {
        says: "images count before a task's id",
        reply: { output: { ...good.output, task_id: "t-1" } },
        result: made(FIRST)
      },
      {
        says: "an image beside an error is delivered",
        reply: { ...good, ...snake },
        result: made(FIRST)
      },
      {
        says: "no more images than ordered are delivered",
        reply: answer(choice(image(FIRST), image(SECOND)), choice(image(FIRST))),
        result: made(FIRST, SECOND)
      },
      {
        says: "an error of null beside an image says nothing",
        reply: { ...good, error: null, code: "", message: "" },
        result: made(FIRST)
      }
    ],
    failures: [
      {
        says: "an answer without an image is lost",
        reply: { body: empty },
        failure: lost("broken_answer", 200)
      },
      {
        says: "an answer of texts alone is lost",
        reply: { body: answer(choice({ text: "no" })) },
        failure: lost("broken_answer", 200)
      },
      {
        says: "an answer without an image that says why is a refusal",
        reply: { body: { ...empty, ...flat("Unheard") } },
        failure: refused(
          200,
          { ...empty, ...flat("Unheard") },
          { effectiveStatus: 502, message: "fault Unheard" }
        )
      },
      ...(
        [
          ["DataInspectionFailed", 400],
          ["InvalidParameter.DataInspection", 400],
          ["Throttling", 429],
          ["InternalError", 500],
          ["Unheard", 502]
        ] as const
      ).map(([code, effectiveStatus]) => ({
        says: `${code} in an HTTP 200 is refused as ${effectiveStatus}`,
        reply: { body: flat(code) },
        failure: refused(200, flat(code), { effectiveStatus, message: `fault ${code}` })
      })),
      {
        says: "an empty account is no fault of the client's, though it is an HTTP 400",
        reply: { status: 400, body: flat("Arrearage") },
        failure: refused(400, flat("Arrearage"), {
          effectiveStatus: 402,
          message: "fault Arrearage"
        })
      },
      {
        says: "the other error form is read too",
        reply: { status: 401, body: snake },
        failure: refused(401, snake, { message: "who?" })
      },
      {
        says: "the other error form in an HTTP 200 is a refusal",
        reply: { body: snake },
        failure: refused(200, snake, { effectiveStatus: 401, message: "who?" })
      }
    ]
  } satisfies Partial<ImageSubject>
}
