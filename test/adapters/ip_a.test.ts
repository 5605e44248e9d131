import { lost, refused } from "./failures.ts"
import { type ImageSubject, imageAdapterSuite } from "./ImageAdapter.suite.ts"
import { imageSimulatorSuite } from "./ImageSimulator.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"

const path = "/v1/images/generations"
const created = 1767225600
const image = { url: "https://files.test/1.png", revised_prompt: "a tall lighthouse" }
const inline = { b64_json: "iVBORw0KGgo=" }
const indecent = {
  error: { code: "OutputImageSensitiveContentDetected", message: "not this one" }
}
const sensitive = (code: string) => ({ error: { code, message: "not this one" } })
const refusedItem = { error: { code: "moderation_blocked", message: "not this one" } }

const everyField = {
  prompt: "a lighthouse",
  size: "1024x1792",
  quality: "hd",
  style: "vivid",
  background: "transparent",
  seed: 7,
  watermark: false,
  user: "u-1",
  n: 2,
  image: ["https://x.test/1.png", "https://x.test/2.png"],
  response_format: "url",
  output_compression: 0.5,
  tools: [{ deep: { unknown: [1, null, ""] } }],
  stream: null
} as const

const inOk = (error: unknown) => ({ created, data: [], error })

const subject: ImageSubject = {
  protocol: "ip_a",
  dialect: plainBearer,
  upstreamModel: "m-1",
  channelPath: "/v1",
  wires: [
    {
      says: "a prompt alone goes out without a number of images",
      body: { prompt: "a lighthouse" },
      path,
      wire: { model: "m-1", prompt: "a lighthouse" },
      images: 1
    },
    {
      says: "every field, known or not, goes out unchanged but for the model",
      body: everyField,
      path,
      wire: { ...everyField, model: "m-1" },
      images: 2
    },
    {
      says: "a null is passed on as a null",
      body: { prompt: "a lighthouse", n: null, size: null },
      path,
      wire: { model: "m-1", prompt: "a lighthouse", n: null, size: null },
      images: 1
    },
    {
      says: "fewer images than asked for are a success",
      body: { prompt: "a lighthouse sim:fewer", n: 3 },
      path,
      wire: { model: "m-1", prompt: "a lighthouse sim:fewer", n: 3 },
      images: 2
    }
  ],
  bases: [
    { base: "", target: "/v1/images/generations" },
    { base: "/", target: "/v1/images/generations" },
    { base: "//", target: "/v1/images/generations" },
    { base: "/v1", target: "/v1/images/generations" },
    { base: "/v1/", target: "/v1/images/generations" },
    { base: "/api/v3", target: "/api/v3/images/generations" },
    { base: "/compatible-mode/v1//", target: "/compatible-mode/v1/images/generations" }
  ],
  good: { created, data: [image] },
  results: [
    {
      says: "addresses pass with every field beside them",
      reply: { created, data: [image], usage: { images: 1 }, background: "opaque" },
      result: { created, data: [image], usage: { images: 1 }, background: "opaque" }
    },
    {
      says: "base64 passes",
      reply: { created, data: [inline, inline] },
      result: { created, data: [inline, inline] }
    },
    {
      says: "an image beside an error is delivered",
      reply: { ...inOk({ message: "half done" }), created, data: [image] },
      result: { ...inOk({ message: "half done" }), created, data: [image] }
    },
    {
      says: "no more images than ordered are delivered, wherever they stand",
      reply: {
        created,
        images: [image],
        url: [image.url],
        data: [
          { ...image, b64_json: [image.url], data: [image.url], seed: 7, preview: image.url },
          refusedItem,
          inline,
          image,
          inline
        ]
      },
      result: { created, data: [{ ...image, seed: 7 }, refusedItem, inline] }
    },
    {
      says: "an image without an address that can be loaded is none",
      reply: { created, data: [{ url: "file:///etc/passwd" }, { url: "/1.png" }, image] },
      result: { created, data: [{ url: "file:///etc/passwd" }, { url: "/1.png" }, image] }
    },
    {
      says: "a refused item beside a good one is a success",
      reply: { created, data: [refusedItem, image] },
      result: { created, data: [refusedItem, image] }
    },
    {
      says: "an unreadable item beside a good one is a success",
      reply: { created, data: [null, "?", image] },
      result: { created, data: [null, "?", image] }
    },
    {
      says: "base64 beside an empty address is an image",
      reply: { created, data: [{ ...inline, url: null }] },
      result: { created, data: [{ ...inline, url: null }] }
    },
    ...[null, "", {}, { code: "", message: "" }].map((error) => ({
      says: `an error of ${JSON.stringify(error)} beside an image says nothing`,
      reply: { created, data: [image], error },
      result: { created, data: [image], error }
    })),
    // The clock of a test starts at 0.
    ...[undefined, null, "1767225600"].map((stamp) => ({
      says: `a time of ${JSON.stringify(stamp)} is replaced by ours`,
      reply: { created: stamp, data: [image] },
      result: { created: 0, data: [image] }
    }))
  ],
  failures: [
    {
      says: "an error object with HTTP 200 is a refusal",
      reply: { body: inOk({ message: "no balance", code: "insufficient_quota" }) },
      failure: refused(200, inOk({ message: "no balance", code: "insufficient_quota" }), {
        effectiveStatus: 402,
        message: "no balance"
      })
    },
    {
      says: "an error with a code alone is a refusal",
      reply: { body: { error: { code: 1301, message: null } } },
      failure: refused(200, { error: { code: 1301, message: null } }, { effectiveStatus: 502 })
    },
    {
      says: "a bare text as error is a refusal",
      reply: { body: { error: "no such model" } },
      failure: refused(
        200,
        { error: "no such model" },
        { effectiveStatus: 502, message: "no such model" }
      )
    },
    {
      says: "images that were all refused are a refusal in the first one's words",
      reply: { body: { created, data: [refusedItem, { error: { message: "nor this" } }] } },
      failure: refused(
        200,
        { created, data: [refusedItem, { error: { message: "nor this" } }] },
        { effectiveStatus: 502, message: "not this one" }
      )
    },
    {
      says: "images that the vendor found indecent are refused as an order is",
      reply: { body: { created, data: [indecent, indecent] } },
      failure: refused(
        200,
        { created, data: [indecent, indecent] },
        { effectiveStatus: 400, message: "not this one" }
      )
    },
    ...[
      [
        "OutputImageSensitiveContentDetected.PolicyViolation",
        "OutputImageSensitiveContentDetected"
      ],
      ["InputTextSensitiveContentDetected", "OutputImageSensitiveContentDetected"],
      ["InputImageSensitiveContentDetected.PrivacyInformation"],
      ["SensitiveContentDetected.SevereViolation"]
    ].map((codes) => ({
      says: `${codes.join(" and ")} are refused as an order is`,
      reply: { body: { created, data: codes.map(sensitive), usage: { generated_images: 0 } } },
      failure: refused(
        200,
        { created, data: codes.map(sensitive) },
        { effectiveStatus: 400, message: "not this one" }
      )
    })),
    {
      says: "one that failed beside one that was found indecent is a failure",
      reply: { body: { created, data: [indecent, sensitive("InternalServiceError")] } },
      failure: refused(
        200,
        { created, data: [indecent, sensitive("InternalServiceError")] },
        { effectiveStatus: 502, message: "not this one" }
      )
    },
    {
      says: "nullable fields of an error are read",
      reply: {
        status: 401,
        body: { error: { message: "who?", type: "new_api_error", param: null, code: "" } }
      },
      failure: refused(
        401,
        { error: { message: "who?", type: "new_api_error", param: null, code: "" } },
        { message: "who?" }
      )
    },
    ...[
      { created, data: [] },
      { created, data: [{ url: "" }] },
      { created, data: [{ url: 7 }, { b64_json: null }] },
      { created, data: image },
      { created }
    ].map((body) => ({
      says: `${JSON.stringify(body)} holds no image and is lost`,
      reply: { body },
      failure: lost("broken_answer", 200)
    }))
  ]
}

imageAdapterSuite(subject)

imageSimulatorSuite({ ...subject, version: "/v1" })
