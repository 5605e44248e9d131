/**
 * The vendors' own providers for the AI SDK, which nobody here wrote: what they can order is made by
 * the simulated vendors as it was ordered, and can be ordered through the gateway too. Nothing here
 * reaches past this machine.
 */
import { createAlibaba } from "@ai-sdk/alibaba"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { videoProtocols } from "../../src/domain/video/VideoProtocol.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { assertFaults, assertNames, type Faults, missingIn } from "../support/knownFaults.ts"
import { finishVideo } from "../support/orders.ts"
import { blockVideos } from "./vendorSdks.blockVideos.ts"
import { cloudVideos } from "./vendorSdks.cloudVideos.ts"
import { images } from "./vendorSdks.images.ts"
import {
  type Booked,
  gatewayOrder,
  orderImagesByPackage,
  orderVideoByPackage,
  type PackageOrder,
  type SeenOrder,
  watchingVendors,
  withoutGiven
} from "./vendorSdks.orders.ts"
import { atGateway, atVendor } from "./vendorSdks.refusals.ts"
import type { ImageRow, VideoRow } from "./vendorSdks.rows.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

type Row = VideoRow | ImageRow

const idsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => [
  ...new Set(rows.map(({ model }) => model))
]

/** Every model of the rows under its vendor's own id. */
const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const perTokens = {
    kind: "token_video" as const,
    per_million_tokens: { base: { without_video: "46", with_video: "28" } }
  }
  const perSecond = {
    kind: "second_video" as const,
    per_second: Object.fromEntries(videoProtocols.vp_f.resolutions.map((name) => [name, "0.6"]))
  }
  const perImage = { kind: "image" as const, per_image: "0.2" }
  const model =
    <M extends "video" | "image", P>(modality: M, protocol: string, prices: P) =>
    (id: string) => ({ id, modality, protocol, prices })
  const models = [
    ...idsOf(blockVideos).map(model("video", "vp_a", perTokens)),
    ...idsOf(cloudVideos).map(model("video", "vp_f", perSecond)),
    ...idsOf(images).map(model("image", "ip_a", perImage))
  ]
  const channel = (protocol: string, base = "") => ({
    id: `ch-${protocol}`,
    name: protocol,
    base_url: `${simulatorUrl}/${protocol}${base}`,
    api_key: "vendor-key"
  })
  return {
    channels: [channel("vp_a"), channel("vp_f"), channel("ip_a", "/api/v3")],
    models,
    mounts: models.map(({ id, protocol }) => ({
      model: id,
      channel: `ch-${protocol}`,
      upstream_model: id
    }))
  }
}

/** Who orders everything through the gateway. */
class Client extends Context.Service<Client, Customer>()("test/Client") {
  static readonly layer = Layer.effect(
    Client,
    Effect.flatMap(Gateway, ({ customer }) => customer("100000"))
  )
}

// What is wrong with an order; nothing, where all is well

const mostSeconds = 30

/** As many seconds are made as were ordered, or as many as the model likes. */
const producedFaults = ({ accepted, ended }: Booked): Faults => {
  const { seconds = null } = ended?.produced ?? {}
  const isChosen = accepted.order.seconds === -1 && seconds !== null
  return isChosen && seconds >= 2 && seconds <= mostSeconds
    ? []
    : missingIn(seconds, accepted.order.seconds, "seconds that were made")
}

const videoFaults = (row: VideoRow, booked: Booked): Faults => {
  const { accepted, ended } = booked
  const inputs = { images: 0, videos: 0, audios: 0, ...row.inputs }
  return [
    ...missingIn(accepted, { model: row.model, order: { ...row.booked, inputs } }),
    ...missingIn(ended, { event: "succeeded" }),
    ...producedFaults(booked),
    ...(row.tokens === undefined
      ? []
      : missingIn(ended, { produced: { completion_tokens: row.tokens } }))
  ]
}

const imageFaults = (row: ImageRow, { accepted, ended }: Booked): Faults => [
  ...missingIn(accepted, {
    model: row.model,
    order: { n: 1, ...row.booked, inputs: { images: row.pictures ?? 0 } }
  }),
  ...missingIn(ended, { event: "succeeded", produced: { images: 1 } })
]

/** What the vendor tells of its bill is what it has booked. */
const billFaults = (
  { inputSeconds = 0 }: VideoRow,
  metadata: unknown,
  { ended }: Booked
): Faults => {
  const { seconds, completion_tokens } = ended?.produced ?? {}
  const ofSeconds = { duration: (seconds ?? 0) + inputSeconds, outputVideoDuration: seconds }
  return typeof completion_tokens === "number"
    ? missingIn(metadata, { bytedance: { usage: { completion_tokens } } })
    : missingIn(metadata, { alibaba: { usage: ofSeconds } })
}

const isOfType = (bytes: Uint8Array, type: "ftyp" | "PNG"): boolean =>
  Buffer.from(bytes.subarray(0, 8)).includes(type)

const packageFaults = (
  { result, booked }: SeenOrder<PackageOrder>,
  wanted: { readonly files: number; readonly type: "ftyp" | "PNG" },
  faultsOf: (booked: Booked) => Faults
): Faults => {
  if (result.failure !== null) return [result.failure]
  const areFiles =
    result.files.length === wanted.files &&
    result.files.every((bytes) => isOfType(bytes, wanted.type))
  return [
    ...(booked.length === wanted.files ? [] : [`${booked.length} orders are booked`]),
    ...(areFiles ? [] : [`${result.files.length} files came`]),
    ...booked.flatMap(faultsOf)
  ]
}

// Orders

type Seen = SeenOrder<PackageOrder>

/** Orders by the packages: each row is ordered once, by the test that needs it first. */
const seenByRow = new Map<Row, Seen>()

const orderOnce = Effect.fnUntraced(function* (row: Row, order: Effect.Effect<PackageOrder>) {
  const { simulator } = yield* Gateway
  const seen = seenByRow.get(row) ?? (yield* watchingVendors(simulator, order))
  seenByRow.set(row, seen)
  return seen
})

const videoAtVendor = Effect.fnUntraced(function* (row: VideoRow) {
  const { simulator } = yield* Gateway
  const seen = yield* orderOnce(row, orderVideoByPackage(simulator.url, row))
  const { fetched, metadata } = seen.result
  const faults = packageFaults(seen, { files: 1, type: "ftyp" }, (booked) => [
    ...videoFaults(row, booked),
    ...billFaults(row, metadata, booked),
    ...(fetched.every((url) => url.includes(`/${booked.accepted.upstream_id}.mp4`))
      ? []
      : [`${fetched.join()} was fetched`])
  ])
  return { seen, faults }
})

const imagesAtVendor = Effect.fnUntraced(function* (row: ImageRow) {
  const { simulator } = yield* Gateway
  const seen = yield* orderOnce(row, orderImagesByPackage(simulator.url, row))
  const wanted = { files: row.call.n ?? 1, type: "PNG" } as const
  return { seen, faults: packageFaults(seen, wanted, (booked) => imageFaults(row, booked)) }
})

const ErrorBody = Schema.Struct({ error: Schema.Struct({ message: Schema.String }) })
const Accepted = Schema.Struct({ id: Schema.String })
const Images = Schema.Struct({ data: Schema.Array(Schema.Struct({ b64_json: Schema.String })) })

/** Orders at the gateway; a refusal, or a task that failed, in its words. */
const orderThrough = Effect.fnUntraced(function* (path: string, json: unknown) {
  const gateway = yield* Gateway
  const who = yield* Client
  const answer = yield* gateway.call(path, { key: who.key, json })
  if (answer.status !== 200) return (yield* bodyAs(ErrorBody, answer)).error.message
  if (path !== videoPath) {
    const { data } = yield* bodyAs(Images, answer)
    return isOfType(Buffer.from(data[0]?.b64_json ?? "", "base64"), "PNG") ? null : "no image"
  }
  const task = yield* finishVideo(who, (yield* bodyAs(Accepted, answer)).id)
  const { video_url = "" } = task.content ?? {}
  return video_url.startsWith(`${gateway.simulator.url}/media/`)
    ? null
    : (task.error?.message ?? "no video")
})

const [videoPath, imagePath] = ["/v1/videos/generations", "/v1/images/generations"]

/** What the vendor does not hear from the gateway of what its package told it, or booked otherwise. */
const gatewayFaults = Effect.fnUntraced(function* (
  { result, requests }: Seen,
  order: { readonly path: string; readonly json: unknown },
  faultsOf: (booked: Booked) => Faults
) {
  const { simulator } = yield* Gateway
  const through = yield* watchingVendors(simulator, orderThrough(order.path, order.json))
  if (through.result !== null) return [through.result]
  const [said, heard] = [requests[0], through.requests[0]]
  return [
    ...(result.bodies.length === 0 ? ["nothing was ordered"] : []),
    ...(through.booked.length === 1 ? [] : [`${through.booked.length} orders are booked`]),
    ...missingIn(heard, { path: said?.path, body: withoutGiven(said?.body) }),
    ...through.booked.flatMap(faultsOf)
  ]
})

const nameOf = ({ model, says }: Row): string => `${model}: ${says}`
const named = <R extends Row>(rows: ReadonlyArray<R>) =>
  rows.map((row) => [nameOf(row), row] as const)
const videos = [...blockVideos, ...cloudVideos]

layer(
  Client.layer.pipe(Layer.provideMerge(layerTestGateway("postgres", undefined, { catalogFor }))),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the vendors' own packages", (it) => {
  it.effect.each(named(videos))("a video of its vendor, %s", ([, row]) =>
    Effect.map(videoAtVendor(row), ({ faults }) => assertFaults(atVendor, nameOf(row), faults))
  )

  it.effect.each(named(images))("images of their vendor, %s", ([, row]) =>
    Effect.map(imagesAtVendor(row), ({ faults }) => assertFaults(atVendor, nameOf(row), faults))
  )

  it.effect.each(named(videos))("the same video through the gateway, %s", ([, row]) =>
    Effect.gen(function* () {
      const { seen } = yield* videoAtVendor(row)
      const json = gatewayOrder(row, seen.result.bodies[0] ?? {})
      const faults = yield* gatewayFaults(seen, { path: videoPath, json }, (booked) =>
        videoFaults(row, booked)
      )
      assertFaults(atGateway, nameOf(row), faults)
    })
  )

  it.effect.each(named(images))("the same images through the gateway, %s", ([, row]) =>
    Effect.gen(function* () {
      const { seen } = yield* imagesAtVendor(row)
      const json = seen.result.bodies[0] ?? {}
      const faults = yield* gatewayFaults(seen, { path: imagePath, json }, (booked) =>
        imageFaults(row, booked)
      )
      assertFaults(atGateway, nameOf(row), faults)
    })
  )

  it.effect("have different rows, and lists of rows that there are", () =>
    Effect.sync(() => assertNames([atVendor, atGateway], [...videos, ...images].map(nameOf)))
  )

  it.effect("order no images of the cloud, as its package has none", () =>
    Effect.sync(() => {
      const { imageModel } = createAlibaba({ apiKey: "key-of-the-package" })
      assert.throws(() => imageModel("wan2.7-image"), /imageModel/)
    })
  )

  it.effect("leave books that hold", () => Effect.flatMap(Gateway, ({ verify }) => verify))
})
