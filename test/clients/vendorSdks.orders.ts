/** Orders by the vendors' own packages, and the same orders as a client of the gateway writes them. */
import { createAlibaba } from "@ai-sdk/alibaba"
import { createByteDance } from "@ai-sdk/bytedance"
import { generateImage, experimental_generateVideo as generateVideo } from "ai"
import { Effect, Option, Predicate } from "effect"
import { type AcceptedEntry, type EndedEntry, jobsOf } from "../../src/simulator/Book.ts"
import type { SeenRequest, Simulator } from "../../src/simulator/Simulator.ts"
import type { ImageRow, VideoRow } from "./vendorSdks.rows.ts"

type Json = Readonly<Record<string, unknown>>

/** A whole order of a vendor's package: its bodies, and what was made or how it failed. */
export interface PackageOrder {
  readonly bodies: ReadonlyArray<Json>
  readonly failure: string | null
  readonly files: ReadonlyArray<Uint8Array>
  readonly fetched: ReadonlyArray<string>
  readonly metadata: unknown
}

const bodyOf = (text: unknown): Json | null => {
  const body: unknown = typeof text === "string" ? JSON.parse(text) : null
  return Predicate.isObject(body) ? { ...body } : null
}

/** Keeps every body that is sent, and lets nothing leave this machine. */
const watched = (bodies: Array<Json>) => {
  const send: typeof globalThis.fetch = async (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input)
    if (hostname !== "127.0.0.1") throw new Error(`a request to ${hostname}`)
    const body = bodyOf(init?.body)
    if (body !== null) bodies.push(body)
    return fetch(input, init)
  }
  return send
}

const apiKey = "key-of-the-package"

const packageOrder = (
  start: (
    send: typeof globalThis.fetch,
    fetched: Array<string>
  ) => Promise<{ files: ReadonlyArray<Uint8Array>; metadata: unknown }>
): Effect.Effect<PackageOrder> =>
  Effect.suspend(() => {
    const bodies: Array<Json> = []
    const fetched: Array<string> = []
    return Effect.tryPromise({
      try: () => start(watched(bodies), fetched),
      catch: (error) => (error instanceof Error ? error.message : String(error))
    }).pipe(
      Effect.match({
        onSuccess: (made) => ({ bodies, fetched, failure: null, ...made }),
        onFailure: (failure) => ({ bodies, fetched, failure, files: [], metadata: null })
      })
    )
  })

const isCloud = ({ model }: VideoRow): boolean => model.startsWith("wan")

export const orderVideoByPackage = (vendors: string, row: VideoRow): Effect.Effect<PackageOrder> =>
  packageOrder(async (send, fetched) => {
    const options = { ...row.options, pollIntervalMs: 1 }
    const connection = { apiKey, fetch: send }
    const { videos, providerMetadata } = await generateVideo({
      ...row.call,
      model: isCloud(row)
        ? createAlibaba({ ...connection, videoBaseURL: `${vendors}/vp_f` }).video(row.model)
        : createByteDance({ ...connection, baseURL: `${vendors}/vp_a/api/v3` }).video(row.model),
      providerOptions: { alibaba: options, bytedance: options },
      maxRetries: 0,
      download: async ({ url }) => {
        fetched.push(url.href)
        const answer = await send(url)
        return { data: new Uint8Array(await answer.arrayBuffer()), mediaType: "video/mp4" }
      }
    })
    return { files: videos.map(({ uint8Array }) => uint8Array), metadata: providerMetadata }
  })

export const orderImagesByPackage = (vendors: string, row: ImageRow): Effect.Effect<PackageOrder> =>
  packageOrder(async (send) => {
    const baseURL = `${vendors}/ip_a/api/v3`
    const { images } = await generateImage({
      ...row.call,
      model: createByteDance({ apiKey, fetch: send, baseURL }).image(row.model),
      providerOptions: { bytedance: row.options ?? {} },
      maxRetries: 0
    })
    return { files: images.map(({ uint8Array }) => uint8Array), metadata: null }
  })

/** What a vendor has booked: orders, each with its end. */
export interface Booked {
  readonly accepted: AcceptedEntry
  readonly ended: EndedEntry | undefined
}

/** An order, and what its vendors have seen and booked of it. */
export interface SeenOrder<A> {
  readonly result: A
  readonly booked: ReadonlyArray<Booked>
  readonly requests: ReadonlyArray<SeenRequest>
}

/** What happens at the vendors while `order` runs, and nothing else. */
export const watchingVendors = Effect.fnUntraced(function* <A, E, R>(
  vendors: Simulator["Service"],
  order: Effect.Effect<A, E, R>
): Effect.fn.Return<SeenOrder<A>, E, R> {
  const before = (yield* vendors.book).length
  const seen = (yield* vendors.requests).at(-1)?.seq ?? 0
  const result = yield* order
  const entries = (yield* vendors.book).slice(before)
  return {
    result,
    booked: [...jobsOf(entries).values()].map(([accepted, ended]) => ({
      accepted,
      ended: Option.getOrUndefined(ended)
    })),
    requests: (yield* vendors.requests).filter(({ method, seq }) => method === "POST" && seq > seen)
  }
})

const jsonOf = (value: unknown): Json => (Predicate.isObject(value) ? { ...value } : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const isVideoAddress = (url: unknown) => typeof url === "string" && /\.(mp4|mov)$/.test(url)

/** One medium of the cloud as a block: what has no name here keeps its own, which the gateway refuses. */
const blockOf = ({ type, url, ...more }: Json): Json => {
  switch (type) {
    case "reference_video":
      return { type: "video_url", role: type, video_url: { url }, ...more }
    case "reference_audio":
      return { type: "audio_url", role: type, audio_url: { url }, ...more }
    default:
      return { type: "image_url", role: type, image_url: { url }, ...more }
  }
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

const shapeOf = (size: unknown): Json => {
  if (typeof size !== "string") return {}
  const [width = 0, height = 0] = size.split("*").map(Number)
  const divisor = greatestDivisor(width, height)
  return {
    resolution: `${Math.min(width, height)}p`,
    ratio: `${width / divisor}:${height / divisor}`
  }
}

/** An order of the cloud's as a client of the gateway writes it. */
const cloudOrder = (body: Json): Json => {
  const { prompt, img_url, audio_url, reference_urls, media, ...input } = jsonOf(body.input)
  const { size, resolution, audio, ...parameters } = jsonOf(body.parameters)
  const blocks = [
    ...(prompt === undefined ? [] : [{ type: "text", text: prompt }]),
    ...(img_url === undefined ? [] : [{ type: "image_url", image_url: { url: img_url } }]),
    ...listOf(reference_urls).map((url) =>
      blockOf({ type: isVideoAddress(url) ? "reference_video" : "reference_image", url })
    ),
    ...listOf(media).map((item) => blockOf(jsonOf(item))),
    ...(audio_url === undefined ? [] : [{ type: "audio_url", audio_url: { url: audio_url } }])
  ]
  return {
    model: body.model,
    content: blocks,
    ...input,
    ...parameters,
    ...shapeOf(size),
    ...(typeof resolution === "string" ? { resolution: resolution.toLowerCase() } : {}),
    ...(audio === undefined ? {} : { generate_audio: audio })
  }
}

/** A body that a vendor's package has sent as a gateway order; that of content blocks is one already. */
export const gatewayOrder = (row: VideoRow, body: Json): Json =>
  isCloud(row) ? cloudOrder(body) : body

/** The body without what its model does by itself: models of 2.6 and 2.7 always have sound. */
export const withoutGiven = (body: unknown): unknown => {
  const { audio, ...parameters } = jsonOf(jsonOf(body).parameters)
  return audio === true ? { ...jsonOf(body), parameters } : body
}
