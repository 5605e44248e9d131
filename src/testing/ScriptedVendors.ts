/** Vendors without sockets, whose responses are scripted by the test. */
import { Clock, Context, Effect, Layer } from "effect"
import { imageCount } from "../domain/image/ImageRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import {
  type ImageAdapter,
  type ImageResult,
  ProtocolAdapter,
  Protocols,
  type VideoAdapter,
  type VideoStatus
} from "../services/ProtocolAdapter.ts"
import { makeScriptedAudio, makeScriptedRerank, makeScriptedText } from "./scriptedTexts.ts"
import {
  type AcceptedVideo,
  type ImageScript,
  type ReceivedImages,
  type ReceivedText,
  type ReceivedVideo,
  type ScriptOf,
  type TextScript,
  type VideoScript,
  vendor
} from "./vendorScripts.ts"

export interface ScriptedOptions {
  readonly videos?: ScriptOf<ReceivedVideo, VideoScript>
  readonly images?: ScriptOf<ReceivedImages, ImageScript>
  readonly texts?: ScriptOf<ReceivedText, TextScript>
}

export class ScriptedVendors extends Context.Service<
  ScriptedVendors,
  {
    /** Sets the script for all video orders from now on. */
    videos(script: ScriptOf<ReceivedVideo, VideoScript>): Effect.Effect<void>
    /** Sets the script for all image orders from now on. */
    images(script: ScriptOf<ReceivedImages, ImageScript>): Effect.Effect<void>
    /** Sets the script for all chat and embedding orders from now on. */
    texts(script: ScriptOf<ReceivedText, TextScript>): Effect.Effect<void>
    /** Ends every running job: its next poll returns this status, or success when left out. */
    finish(end?: VideoStatus): Effect.Effect<void>
    /** All received video orders, including refused ones, oldest first. */
    readonly videoOrders: Effect.Effect<ReadonlyArray<ReceivedVideo>>
    /** All received image orders, including refused ones, oldest first. */
    readonly imageOrders: Effect.Effect<ReadonlyArray<ReceivedImages>>
    /** All received chat and embedding orders, including refused ones, oldest first. */
    readonly textOrders: Effect.Effect<ReadonlyArray<ReceivedText>>
    /**
     * The number of video jobs, image requests and text requests that the vendors accepted and
     * would bill.
     */
    readonly jobs: Effect.Effect<number>
  }
>()("gateway/testing/ScriptedVendors") {}

interface Job {
  readonly request: ReceivedVideo
  readonly script: AcceptedVideo
  polls: number
  /** The end that `finish` has set; null while the script decides. */
  end: VideoStatus | "succeeded" | null
}

const isFunction = <Request, Script>(
  script: ScriptOf<Request, Script>
): script is (request: Request) => Script => typeof script === "function"

const decide = <Request, Script>(script: ScriptOf<Request, Script>, request: Request): Script =>
  isFunction(script) ? script(request) : script

const addressOf = (protocol: string, name: string): string => `https://${protocol}.test/${name}`

const endOf = (
  id: string,
  { request, script }: Job,
  end: VideoStatus | "succeeded"
): VideoStatus =>
  end === "succeeded"
    ? {
        _tag: "Succeeded",
        videoUrl: addressOf(request.protocol, `${id}.mp4`),
        usage: script.usage
      }
    : end

/** Creates the state that the adapters of all protocols share. */
const makeVendors = (options: ScriptedOptions) => {
  let videos = options.videos ?? vendor.succeeds()
  let images = options.images ?? vendor.makes()
  let texts = options.texts ?? vendor.writes()
  const videoOrders: Array<ReceivedVideo> = []
  const imageOrders: Array<ReceivedImages> = []
  const textOrders: Array<ReceivedText> = []
  const jobs = new Map<string, Job>()
  let imageJobs = 0
  let textJobs = 0

  const submit = (request: ReceivedVideo): Effect.Effect<string, VendorFailure> =>
    Effect.suspend(() => {
      videoOrders.push(request)
      const script = decide(videos, request)
      if (script._tag === "Failing") return Effect.fail(script.failure)
      const id = `job-${jobs.size + 1}`
      jobs.set(id, { request, script, polls: 0, end: null })
      return Effect.succeed(id)
    })

  const poll = (id: string): VideoStatus => {
    const job = jobs.get(id)
    if (job === undefined) return { _tag: "Unknown" }
    const { polls, end } = job.script
    if (job.end !== null) return endOf(id, job, job.end)
    if (polls === "forever" || job.polls < polls) {
      job.polls += 1
      return { _tag: "Processing" }
    }
    return endOf(id, job, end)
  }

  const draw = ({ protocol, order }: ReceivedImages, result: ImageResult | null) =>
    Effect.map(Clock.currentTimeMillis, (now): ImageResult => {
      imageJobs += 1
      const data = Array.from({ length: imageCount(order.body) }, (_, index) => ({
        url: addressOf(protocol, `image-${imageJobs}-${index}.png`)
      }))
      return result ?? { created: Math.floor(now / 1000), data }
    })

  const generate = (request: ReceivedImages): Effect.Effect<ImageResult, VendorFailure> =>
    Effect.suspend(() => {
      imageOrders.push(request)
      const script = decide(images, request)
      return script._tag === "Failing"
        ? Effect.fail(script.failure)
        : Effect.andThen(script.after, draw(request, script.result))
    })

  const write = (request: ReceivedText): Effect.Effect<TextScript> =>
    Effect.sync(() => {
      textOrders.push(request)
      const script = decide(texts, request)
      if (script._tag === "Written") textJobs += 1
      return script
    })

  const service = ScriptedVendors.of({
    videos: (script) =>
      Effect.sync(() => {
        videos = script
      }),
    images: (script) =>
      Effect.sync(() => {
        images = script
      }),
    texts: (script) =>
      Effect.sync(() => {
        texts = script
      }),
    finish: (end) =>
      Effect.sync(() => {
        for (const job of jobs.values()) job.end ??= end ?? "succeeded"
      }),
    videoOrders: Effect.sync(() => [...videoOrders]),
    imageOrders: Effect.sync(() => [...imageOrders]),
    textOrders: Effect.sync(() => [...textOrders]),
    jobs: Effect.sync(() => jobs.size + imageJobs + textJobs)
  })
  return { service, submit, poll, generate, write }
}

/**
 * Adapters for every protocol in `Protocols`, without a socket, and `ScriptedVendors` to control
 * them. Without a script, each video is finished at the second poll and each image immediately. A
 * script may be a function of the received order, so that it can depend on the order's text,
 * account or protocol.
 */
export const layerAdaptersScripted = (options: ScriptedOptions = {}) =>
  Layer.effectContext(
    Effect.map(Protocols, (protocols) => {
      const { service, submit, poll, generate, write } = makeVendors(options)
      const videoAdapter = (protocol: string): VideoAdapter => ({
        submit: (account, order) => submit({ protocol, account, order }),
        poll: (_account, { upstreamId }) => Effect.sync(() => poll(upstreamId))
      })
      const imageAdapter = (protocol: string): ImageAdapter => ({
        generate: (account, order) => generate({ protocol, account, order })
      })
      const adaptersOf = <A>(names: Iterable<string>, make: (protocol: string) => A) =>
        new Map([...names].map((name) => [name, make(name)] as const))
      // A new modality needs a map here and a script in `makeVendors`.
      return Context.make(ScriptedVendors, service).pipe(
        Context.add(ProtocolAdapter, {
          video: adaptersOf(protocols.video.keys(), videoAdapter),
          image: adaptersOf(protocols.image.keys(), imageAdapter),
          text: adaptersOf(protocols.text.keys(), (protocol) => makeScriptedText(protocol, write)),
          rerank: adaptersOf(protocols.rerank?.keys() ?? [], (protocol) =>
            makeScriptedRerank(protocol, write)
          ),
          audio: adaptersOf(protocols.audio?.keys() ?? [], (protocol) =>
            makeScriptedAudio(protocol, write)
          )
        })
      )
    })
  )
