/**
 * Google's provider for the AI SDK, which nobody here wrote, with the simulated vendors: what it can
 * order is made as it was ordered.
 */
import { createGoogle } from "@ai-sdk/google"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"

const PROMPT = "a lighthouse at dusk"
const bytes = new Uint8Array(Buffer.from("the bytes of a picture"))
const picture = { type: "file", mediaType: "image/png", data: bytes } as const
const wirePicture = {
  bytesBase64Encoded: Buffer.from(bytes).toString("base64"),
  mimeType: "image/png"
}

const providerOf = Effect.map(Simulator, ({ url }) => ({
  videos: createGoogle({ apiKey: "sdk-key", baseURL: `${url}/veo/v1beta` }),
  images: createGoogle({ apiKey: "sdk-key", baseURL: `${url}/gemini/v1beta` })
}))

type VideoModel = ReturnType<ReturnType<typeof createGoogle>["video"]>
type VideoCall = Parameters<NonNullable<VideoModel["doStart"]>>[0]

const videoCall = (more: Partial<VideoCall>): VideoCall => ({
  prompt: PROMPT,
  n: 1,
  aspectRatio: undefined,
  resolution: undefined,
  duration: 8,
  fps: undefined,
  seed: undefined,
  image: undefined,
  frameImages: undefined,
  inputReferences: undefined,
  generateAudio: undefined,
  providerOptions: {},
  ...more
})

/** Orders a video and polls it to its end. */
const videoOf = Effect.fnUntraced(function* (model: string, call: Partial<VideoCall>) {
  const { videos } = yield* providerOf
  return yield* Effect.promise(async () => {
    const { doStart, doStatus } = videos.video(model)
    const ordered = videos.video(model)
    if (doStart === undefined || doStatus === undefined) return assert.fail("it has no operations")
    const { operation } = await doStart.call(ordered, videoCall(call))
    for (;;) {
      const status = await doStatus.call(ordered, { operation, providerOptions: {} })
      if (status.status !== "pending") return status
    }
  })
})

const lastOrder = Effect.map(
  Effect.flatMap(Simulator, ({ requests }) => requests),
  (requests) => requests.findLast(({ method }) => method === "POST")
)

interface VideoRow {
  readonly says: string
  readonly model?: string
  readonly call: Partial<VideoCall>
  readonly instance: object
  readonly parameters: object
}

const rows: ReadonlyArray<VideoRow> = [
  { says: "a text", call: {}, instance: {}, parameters: {} },
  {
    says: "a text with size, shape, seed and the vendor's own fields",
    model: "veo-3.1-fast-generate-preview",
    call: {
      aspectRatio: "9:16",
      resolution: "1920x1080",
      seed: 7,
      providerOptions: { google: { negativePrompt: "rain", personGeneration: "allow_adult" } }
    },
    instance: {},
    parameters: {
      aspectRatio: "9:16",
      resolution: "1080p",
      seed: 7,
      negativePrompt: "rain",
      personGeneration: "allow_adult"
    }
  },
  { says: "an image", call: { image: picture }, instance: { image: wirePicture }, parameters: {} },
  {
    says: "two frames",
    model: "veo-3.1-lite-generate-preview",
    call: {
      frameImages: [
        { frameType: "first_frame", image: picture },
        { frameType: "last_frame", image: picture }
      ]
    },
    instance: { image: wirePicture, lastFrame: wirePicture },
    parameters: {}
  },
  {
    says: "references",
    call: { inputReferences: [picture, picture] },
    instance: {
      referenceImages: [
        { image: wirePicture, referenceType: "asset" },
        { image: wirePicture, referenceType: "asset" }
      ]
    },
    parameters: {}
  }
]

const refusals: ReadonlyArray<readonly [says: string, call: Partial<VideoCall>, message: string]> =
  [
    ["a length that no model makes", { duration: 5 }, "out of bound"],
    ["a short video at 1080p", { duration: 4, resolution: "1920x1080" }, "must be 8"],
    [
      "a field of another API",
      { providerOptions: { google: { generateAudio: true } } },
      "generateAudio"
    ],
    ["a reference beside a frame", { image: picture, inputReferences: [picture] }, "combined"]
  ]

layer(layerSimulator({ port: 0 }), { excludeTestServices: true })("@ai-sdk/google", (it) => {
  it.effect.each(rows.map((row) => [row.says, row] as const))("a video of %s", ([, row]) =>
    Effect.gen(function* () {
      const status = yield* videoOf(row.model ?? "veo-3.1-generate-preview", row.call)
      assert.deepStrictEqual((yield* lastOrder)?.body, {
        instances: [{ prompt: PROMPT, ...row.instance }],
        parameters: { sampleCount: 1, durationSeconds: 8, ...row.parameters }
      })
      if (status.status !== "completed") return assert.fail(JSON.stringify(status))
      const [video] = status.videos
      assert.strictEqual(video?.type, "url")
      if (video?.type !== "url") return
      const file = yield* Effect.promise(() => fetch(video.url))
      assert.strictEqual(file.headers.get("content-type"), "video/mp4")
      const withoutKey = yield* Effect.promise(() => fetch(video.url.replace(/&key=.*/, "")))
      assert.strictEqual(withoutKey.status, 403)
    })
  )

  it.effect.each([...refusals])("the vendor refuses %s", ([, call, message]) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        Effect.gen(function* () {
          const { videos } = yield* providerOf
          const model = videos.video("veo-3.1-generate-preview")
          return yield* Effect.tryPromise(async () => await model.doStart?.(videoCall(call)))
        })
      )
      assert.strictEqual(exit._tag, "Failure")
      assert.include(JSON.stringify(exit), message)
    })
  )

  it.effect("an image of a text and of other images", () =>
    Effect.gen(function* () {
      const { images } = yield* providerOf
      const model = images.image("gemini-3-pro-image-preview")
      const result = yield* Effect.promise(async () =>
        model.doGenerate({
          prompt: PROMPT,
          n: 1,
          size: undefined,
          aspectRatio: "3:2",
          seed: 7,
          files: [picture],
          mask: undefined,
          providerOptions: { google: { imageConfig: { imageSize: "512" } } }
        })
      )
      assert.lengthOf(result.images, 1)
      assert.deepStrictEqual(result.usage, {
        inputTokens: 270,
        outputTokens: 1290,
        totalTokens: 1560
      })
      const order = yield* lastOrder
      assert.nestedPropertyVal(
        order?.body,
        "contents[0].parts[1].inlineData.data",
        wirePicture.bytesBase64Encoded
      )
    })
  )

  it.effect("a refused image is no image", () =>
    Effect.gen(function* () {
      const { images } = yield* providerOf
      const model = images.image("gemini-2.5-flash-image")
      const call = {
        prompt: "a sim:moderate-output",
        n: 1,
        size: undefined,
        aspectRatio: undefined,
        seed: undefined,
        files: undefined,
        mask: undefined,
        providerOptions: {}
      } as const
      const result = yield* Effect.promise(async () => model.doGenerate(call))
      assert.deepStrictEqual(result.images, [])
      assert.nestedPropertyVal(result, "providerMetadata.google.finishReason", "IMAGE_SAFETY")
    })
  )
})
