import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { lost, refused } from "./failures.ts"
import { type ImageSubject, imageAdapterSuite, imageOrder } from "./ImageAdapter.suite.ts"
import { imageSimulatorSuite } from "./ImageSimulator.suite.ts"
import { accountAt, imageAdapter, layerOverSockets, layerWithSimulator } from "./support.ts"

const MODEL = "gemini-3-pro-image-preview"
const path = `/v1beta/models/${MODEL}:generateContent`

const createdAt = 1767225600
const BYTES = "iVBORw0KGgo="
const part = { inlineData: { mimeType: "image/png", data: BYTES } }
const usageMetadata = {
  promptTokenCount: 270,
  candidatesTokenCount: 1300,
  thoughtsTokenCount: 90,
  totalTokenCount: 1660,
  promptTokensDetails: [
    { modality: "TEXT", tokenCount: 12 },
    { modality: "IMAGE", tokenCount: 258 }
  ],
  candidatesTokensDetails: [
    { modality: "IMAGE", tokenCount: 1290 },
    { modality: "TEXT", tokenCount: 10 }
  ],
  cachedContentTokenCount: 4
}
const usage = {
  input_tokens: 270,
  output_tokens: 1290,
  input_tokens_details: { image_tokens: 258, cached_tokens: 4 }
}
const counts = {
  images: 1,
  usage: { inputTokens: 270n, outputTokens: 1290n, imageTokens: 258n, cachedTokens: 4n }
}
const answer = (parts: ReadonlyArray<unknown>, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
  ...more
})
const endFor = (finishReason: string, more: object = {}) => ({
  candidates: [{ finishReason, ...more }],
  usageMetadata
})

const pictureOf = (index: number) => Buffer.from(`picture ${index}`).toString("base64")
const inline = (index: number) => `data:image/jpeg;base64,${pictureOf(index)}`
const wirePicture = (index: number) => ({
  inlineData: { mimeType: "image/jpeg", data: pictureOf(index) }
})

const wire = (parts: ReadonlyArray<unknown>, more: object = {}) => ({
  contents: [{ role: "user", parts: [{ text: "a lighthouse" }, ...parts] }],
  generationConfig: { responseModalities: ["IMAGE"], ...more }
})

const refusal = (message: string, param: string) => ({
  body: { error: { code: 400, message, status: "INVALID_ARGUMENT", param } },
  message
})
const NO_ADDRESS =
  "image: Expected images as data URLs in base64, or uploaded files: Google loads no image from an address"
const country = {
  error: { code: 400, message: "User location is not supported.", status: "FAILED_PRECONDITION" }
}

const subject: ImageSubject = {
  protocol: "gemini",
  dialect: { scheme: "", keyHeader: "x-goog-api-key", headers: {} },
  upstreamModel: MODEL,
  channelPath: "",
  ordered: 1,
  wires: [
    { says: "a prompt alone", body: { prompt: "a lighthouse" }, path, wire: wire([]) },
    {
      says: "size, shape and seed go out by the vendor's names",
      body: { prompt: "a lighthouse", size: "512", aspect_ratio: "16:9", seed: 7 },
      path,
      wire: wire([], { seed: 7, imageConfig: { aspectRatio: "16:9", imageSize: "512" } })
    },
    {
      says: "a size in small letters",
      body: { prompt: "a lighthouse", size: "1k", response_format: "b64_json" },
      path,
      wire: wire([], { imageConfig: { imageSize: "1K" } })
    },
    {
      says: "references go out as bytes, in their order",
      body: { prompt: "a lighthouse", image: inline(1), images: [inline(2), { url: inline(3) }] },
      path,
      wire: wire([wirePicture(1), wirePicture(2), wirePicture(3)])
    }
  ],
  unsent: [
    {
      says: "a reference from an address",
      body: { prompt: "x", image: ["https://x.test/1.png"] },
      refusal: refusal(NO_ADDRESS, "image")
    },
    {
      says: "a size in pixels",
      body: { prompt: "x", size: "1024x1024" },
      refusal: refusal("size: Expected 512, 1K, 2K, 4K, and the shape in aspect_ratio", "size")
    },
    {
      says: "addresses in the answer",
      body: { prompt: "x", response_format: "url" },
      refusal: refusal(
        "response_format: Expected b64_json or nothing: Google answers images as bytes. With an archive, Prefer: respond-async gives addresses",
        "response_format"
      )
    }
  ],
  bases: ["", "/", "//", "/relay", "/v1beta", "/v1beta/", "/relay/v1beta"].map((base) => ({
    base,
    target: base.replace(/\/+$/, "").replace("/v1beta", "") + path
  })),
  good: { ...answer([part]), createdAt },
  results: [
    {
      says: "an image with the tokens of its kinds",
      reply: answer([{ text: "Here it is" }, part], { usageMetadata }),
      result: { data: [{ b64_json: BYTES }], usage }
    },
    {
      says: "a draft is no image, and a second image is left out",
      reply: answer([{ ...part, thought: true }, part, part]),
      result: { data: [{ b64_json: BYTES }] }
    },
    {
      says: "an image beside the end of another candidate",
      reply: { candidates: [{ finishReason: "IMAGE_SAFETY" }, ...answer([part]).candidates] },
      result: { data: [{ b64_json: BYTES }] }
    }
  ].map(({ result, ...row }) => ({ ...row, result: { ...result, created: 0 } })),
  failures: [
    {
      says: "a blocked prompt is the client's",
      reply: { body: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } } },
      failure: refused(200, null, {
        effectiveStatus: 400,
        message: "The vendor refused the prompt: PROHIBITED_CONTENT"
      })
    },
    {
      says: "a blocked prompt with the vendor's words",
      reply: { body: { promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "No." } } },
      failure: refused(200, null, { effectiveStatus: 400, message: "No." })
    },
    ...["SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "RECITATION"].map((reason) => ({
      says: `the end ${reason} is a verdict on the content`,
      reply: { body: endFor(reason, { finishMessage: "Not this one." }) },
      failure: refused(200, null, { effectiveStatus: 400, message: "Not this one." })
    })),
    ...["NO_IMAGE", "MAX_TOKENS", "UNHEARD_OF"].map((reason) => ({
      says: `the end ${reason} is no verdict`,
      reply: { body: endFor(reason) },
      failure: refused(200, null, {
        effectiveStatus: 502,
        message: `The vendor made no image: ${reason}`
      })
    })),
    {
      says: "words in place of an image",
      reply: { body: answer([{ text: "I cannot draw." }]) },
      failure: refused(200, null, {
        effectiveStatus: 502,
        message: "The vendor made no image: STOP"
      })
    },
    {
      says: "a country without the service is the account's",
      reply: { status: 400, body: country },
      failure: refused(400, country, {
        effectiveStatus: 403,
        message: "User location is not supported."
      })
    },
    {
      says: "no candidates",
      reply: { body: { candidates: [] } },
      failure: lost("broken_answer", 200)
    }
  ]
}

imageAdapterSuite(subject)

imageSimulatorSuite({ ...subject, version: "/v1beta" })

layer(layerOverSockets)("the counts of gemini", (it) => {
  const countsOf = Effect.fnUntraced(function* (body: object, n = 1) {
    const vendor = yield* brokenVendor({ body })
    const adapter = yield* imageAdapter("gemini")
    const requests: Array<unknown> = []
    yield* adapter.generate(
      accountAt(vendor.url),
      imageOrder(MODEL, { prompt: "x", n }),
      undefined,
      (delivered) => {
        requests.push(delivered)
      }
    )
    return requests
  })

  it.effect("are those of the image, by kinds", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* countsOf(answer([part], { usageMetadata })), [counts])
    })
  )

  it.effect("add up where several images have a call each", () =>
    Effect.gen(function* () {
      const [both] = yield* countsOf(answer([part], { usageMetadata }), 2)
      assert.deepStrictEqual(both, {
        images: 2,
        usage: { inputTokens: 540n, outputTokens: 2580n, imageTokens: 516n, cachedTokens: 8n }
      })
    })
  )

  it.effect("are unknown where the vendor counts nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* countsOf(answer([part])), [{ images: 1, usage: null }])
    })
  )

  it.effect("are those of all output where it is not counted by kinds", () =>
    Effect.gen(function* () {
      const { promptTokenCount, candidatesTokenCount } = usageMetadata
      const plain = { promptTokenCount, candidatesTokenCount }
      assert.deepStrictEqual(yield* countsOf(answer([part], { usageMetadata: plain })), [
        {
          images: 1,
          usage: { inputTokens: 270n, outputTokens: 1300n, imageTokens: null, cachedTokens: 0n }
        }
      ])
    })
  )
})

layer(layerWithSimulator)("the lists of Google's models", (it) => {
  it.effect("have the image models alone", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      const { listModels } = yield* imageAdapter("gemini")
      const ids = yield* listModels?.(accountAt(`${url}/gemini`)) ?? Effect.succeed([])
      assert.deepStrictEqual(ids, [
        "gemini-3-pro-image-preview",
        "gemini-3.1-flash-image-preview",
        "gemini-2.5-flash-image"
      ])
    })
  )
})
