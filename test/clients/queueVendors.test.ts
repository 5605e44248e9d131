/**
 * The vendors' own clients, and the AI SDK's providers of them, against the simulated vendors: what
 * the simulator refuses of these clients, it would refuse wrongly of the gateway.
 */
import { createFal } from "@ai-sdk/fal"
import { createReplicate } from "@ai-sdk/replicate"
import { assert, layer } from "@effect/vitest"
import { ApiError, createFalClient, type FalClient } from "@fal-ai/client"
import { Effect, Schema } from "effect"
import Replicate from "replicate"
import { falDocument } from "../../src/domain/queue/documents/fal.ts"
import { replicateDocument } from "../../src/domain/queue/documents/replicate.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"

const QUEUE = "https://queue.fal.run"
const KEY = "sk-simulated"
const prompt = "a lighthouse sim:slow=1"
const image = "https://media.test/1.png"
const seedance = "fal-ai/bytedance/seedance/v1/pro"
const kling = "fal-ai/kling-video"

const decodeVideo = Schema.decodeUnknownSync(
  Schema.Struct({ video: Schema.Struct({ url: Schema.String }) })
)

const falClient = (url: string, credentials = KEY): FalClient =>
  createFalClient({
    credentials,
    requestMiddleware: async (request) => ({
      ...request,
      url: request.url.replace(QUEUE, `${url}/fal`)
    })
  })

const poll = { pollInterval: 5 }

/** A call of each model, and where its result has the file. */
const falCalls: ReadonlyArray<
  readonly [model: string, run: (client: FalClient) => Promise<string | undefined>]
> = [
  [
    `${seedance}/text-to-video`,
    async (client) => {
      const input = { prompt, duration: "7", resolution: "1080p", aspect_ratio: "9:16" } as const
      return (await client.subscribe(`${seedance}/text-to-video`, { ...poll, input })).data.video
        .url
    }
  ],
  [
    `${seedance}/image-to-video`,
    async (client) => {
      const input = { prompt, image_url: image, end_image_url: image }
      return (await client.subscribe(`${seedance}/image-to-video`, { ...poll, input })).data.video
        .url
    }
  ],
  [
    `${kling}/v3/pro/text-to-video`,
    async (client) => {
      const shots = [
        { prompt, duration: "3" },
        { prompt, duration: "4" }
      ] as const
      const input = {
        duration: "7",
        aspect_ratio: "9:16",
        shot_type: "customize",
        generate_audio: false
      } as const
      const model = `${kling}/v3/pro/text-to-video` as const
      return (
        await client.subscribe(model, { ...poll, input: { ...input, multi_prompt: [...shots] } })
      ).data.video.url
    }
  ],
  [
    `${kling}/v3/pro/image-to-video`,
    async (client) => {
      const input = { prompt, start_image_url: image, end_image_url: image, duration: "9" } as const
      return (await client.subscribe(`${kling}/v3/pro/image-to-video`, { ...poll, input })).data
        .video.url
    }
  ],
  // The client has no types of version 4 yet.
  ...(
    [
      ["text-to-video", { multi_prompt: [{ prompt, duration: 5 }] }],
      ["image-to-video", { prompt, start_image_url: image, middle_image_urls: [image] }]
    ] as const
  ).map(
    ([name, input]) =>
      [
        `${kling}/v4/${name}`,
        async (client: FalClient) => {
          const model: string = `${kling}/v4/${name}`
          const { data } = await client.subscribe(model, { ...poll, input })
          return decodeVideo(data).video.url
        }
      ] as const
  ),
  [
    "fal-ai/flux/dev",
    async (client) => {
      const input = { prompt, num_images: 2, image_size: { width: 640, height: 480 } }
      return (await client.subscribe("fal-ai/flux/dev", { ...poll, input })).data.images[1]?.url
    }
  ],
  [
    "fal-ai/clarity-upscaler",
    async (client) => {
      const input = { prompt, image_url: image, upscale_factor: 2 }
      return (await client.subscribe("fal-ai/clarity-upscaler", { ...poll, input })).data.image.url
    }
  ]
]

const replicateInputs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "bytedance/seedance-1-pro": { prompt, duration: 6, resolution: "720p", image },
  "kwaivgi/kling-v2.1": { prompt, start_image: image, mode: "pro", duration: 10 },
  "black-forest-labs/flux-schnell": { prompt, num_outputs: 2, aspect_ratio: "16:9" },
  "recraft-ai/recraft-crisp-upscale": { image }
}

const isReplicateModel = (model: string): model is `${string}/${string}` => model.includes("/")

const fileIn = (output: unknown): unknown => (Array.isArray(output) ? output[0] : output)

/** A `fetch` that finds the queue at the simulator, in requests and in the addresses of answers. */
const queueFetch =
  (url: string): typeof globalThis.fetch =>
  async (input, init) => {
    const target = input instanceof Request ? input.url : String(input)
    const response = await fetch(target.replace(QUEUE, `${url}/fal`), init)
    const text = (await response.text()).replaceAll(`${url}/fal`, QUEUE)
    return new Response(text, {
      status: response.status,
      headers: { "content-type": "application/json" }
    })
  }

const imageCall = {
  prompt,
  n: 1,
  size: undefined,
  aspectRatio: undefined,
  seed: undefined,
  providerOptions: {},
  files: undefined,
  mask: undefined
} as const

const videoCall = {
  prompt,
  n: 1,
  aspectRatio: "9:16",
  resolution: undefined,
  duration: undefined,
  fps: undefined,
  seed: 7,
  image: undefined,
  frameImages: undefined,
  inputReferences: undefined,
  generateAudio: undefined,
  providerOptions: {}
} as const

/** An operation as a program would store it between a start and a look. */
const storedOperation = (operation: unknown): Record<string, string> =>
  JSON.parse(JSON.stringify(operation ?? null))

const picture = { type: "url", url: image } as const

layer(layerSimulator({ port: 0 }), { excludeTestServices: true })("the client of fal", (it) => {
  it("has a call of every model of the document", () => {
    assert.sameMembers(
      falCalls.map(([model]) => model),
      falDocument.models.map(({ id }) => id)
    )
  })

  it.effect.each(falCalls)("makes %s", ([model, run]) =>
    Effect.gen(function* () {
      const { url, book } = yield* Simulator
      const file = yield* Effect.promise(() => run(falClient(url)))
      assert.match(file ?? "", /^http:\/\/127\.0\.0\.1:\d+\/media\//)
      const [accepted, ended] = (yield* book).slice(-2)
      assert.deepInclude(accepted, { event: "accepted", model })
      assert.propertyVal(ended, "event", "succeeded")
    })
  )

  it.effect("is told by the result what its input lacks", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      const error = yield* Effect.promise(() =>
        falClient(url)
          .subscribe("fal-ai/clarity-upscaler", {
            ...poll,
            input: { prompt: "x sim:slow=0", image_url: "", upscale_factor: 9 }
          })
          .then(
            () => null,
            (failure: unknown) => failure
          )
      )
      assert.instanceOf(error, ApiError)
      assert.strictEqual(error.status, 422)
      assert.deepNestedInclude(error.body, { "detail[0].loc": ["body", "image_url"] })
    })
  )

  it.effect("cancels a job that waits, and not one that has ended", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      const { queue } = falClient(url)
      const model = `${seedance}/text-to-video`
      const { request_id: requestId } = yield* Effect.promise(() =>
        queue.submit(model, { input: { prompt: "x sim:waits" } })
      )
      yield* Effect.promise(() => queue.cancel(model, { requestId }))
      const status = yield* Effect.promise(() => queue.status(model, { requestId }))
      assert.deepInclude<unknown>(status, {
        status: "COMPLETED",
        error: "The request was cancelled"
      })
      const again = yield* Effect.promise(() =>
        queue.cancel(model, { requestId }).then(
          () => null,
          (failure: unknown) => failure
        )
      )
      assert.instanceOf(again, ApiError)
      assert.deepEqual<unknown>(again.body, { status: "ALREADY_COMPLETED" })
    })
  )

  it.effect("is refused with a wrong key", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      const error = yield* Effect.promise(() =>
        falClient(url, "bad-key")
          .queue.submit("fal-ai/flux/dev", { input: { prompt } })
          .then(
            () => null,
            (failure: unknown) => failure
          )
      )
      assert.instanceOf(error, ApiError)
      assert.strictEqual(error.status, 401)
    })
  )
})

layer(layerSimulator({ port: 0 }), { excludeTestServices: true })(
  "the client of Replicate",
  (it) => {
    const clientAt = (url: string) =>
      new Replicate({ auth: KEY, baseUrl: `${url}/replicate/v1`, useFileOutput: false })

    it.effect.each(replicateDocument.models.map(({ id }) => id))("makes %s", (model) =>
      Effect.gen(function* () {
        const { url, book } = yield* Simulator
        assert.isTrue(isReplicateModel(model))
        if (!isReplicateModel(model)) return
        const input = replicateInputs[model] ?? {}
        for (const wait of [{ mode: "poll", interval: 5 }, { mode: "block" }] as const) {
          const output = yield* Effect.promise(() => clientAt(url).run(model, { input, wait }))
          assert.match(String(fileIn(output)), /^http:\/\/127\.0\.0\.1:\d+\/media\//)
          const [accepted, ended] = (yield* book).slice(-2)
          assert.deepInclude(accepted, { event: "accepted", model })
          assert.propertyVal(ended, "event", "succeeded")
        }
      })
    )

    it.effect("is told what its input lacks, and cancels a prediction", () =>
      Effect.gen(function* () {
        const { url } = yield* Simulator
        const { predictions } = clientAt(url)
        const refusal = yield* Effect.promise(() =>
          predictions.create({ model: "kwaivgi/kling-v2.1", input: { prompt } }).then(
            () => "",
            (failure: unknown) => String(failure)
          )
        )
        assert.include(refusal, "422")
        assert.include(refusal, "start_image is required")
        const { id } = yield* Effect.promise(() =>
          predictions.create({
            model: "bytedance/seedance-1-pro",
            input: { prompt: "x sim:waits" }
          })
        )
        const cancellation = yield* Effect.promise(() => predictions.cancel(id))
        assert.strictEqual(cancellation.status, "canceled")
      })
    )
  }
)

layer(layerSimulator({ port: 0 }), { excludeTestServices: true })("the AI SDK", (it) => {
  it.effect("makes images of fal and Replicate", () =>
    Effect.gen(function* () {
      const { url, book } = yield* Simulator
      const fal = createFal({ apiKey: KEY, baseURL: `${url}/fal/run` })
      const replicate = createReplicate({ apiToken: KEY, baseURL: `${url}/replicate/v1` })
      const calls = [
        () => fal.image("fal-ai/flux/dev").doGenerate({ ...imageCall, size: "640x480", seed: 7 }),
        () => fal.image("fal-ai/clarity-upscaler").doGenerate({ ...imageCall, files: [picture] }),
        () =>
          replicate
            .image("black-forest-labs/flux-schnell")
            .doGenerate({ ...imageCall, aspectRatio: "16:9" }),
        () =>
          replicate
            .image("recraft-ai/recraft-crisp-upscale")
            .doGenerate({ ...imageCall, files: [picture] })
      ]
      for (const call of calls) {
        const { images } = yield* Effect.promise(call)
        assert.strictEqual(images.length, 1)
        assert.propertyVal((yield* book).at(-1), "event", "succeeded")
      }
    })
  )

  it.effect("makes videos of fal and Replicate", () =>
    Effect.gen(function* () {
      const { url, book } = yield* Simulator
      const fal = createFal({ apiKey: KEY, fetch: queueFetch(url) })
      const replicate = createReplicate({ apiToken: KEY, baseURL: `${url}/replicate/v1` })
      const models = [
        [fal.video(`${seedance}/text-to-video`), {}],
        [fal.video(`${seedance}/image-to-video`), { image: picture }],
        [replicate.video("bytedance/seedance-1-pro"), { duration: 6 }],
        [replicate.video("bytedance/seedance-1-pro"), { image: picture }],
        [
          replicate.video("kwaivgi/kling-v2.1"),
          { providerOptions: { replicate: { start_image: image } } }
        ]
      ] as const
      for (const [model, more] of models) {
        const videos = yield* Effect.promise(async () => {
          const started = await model.doStart?.({ ...videoCall, ...more })
          for (let polls = 0; polls < 9; polls++) {
            const status = await model.doStatus?.({
              operation: storedOperation(started?.operation)
            })
            if (status?.status === "completed") return status.videos
          }
          return []
        })
        assert.strictEqual(videos.length, 1)
        assert.propertyVal((yield* book).at(-1), "event", "succeeded")
      }
    })
  )
})
