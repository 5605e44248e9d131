/** Two protocols of a toy vendor, put beside the built-in ones by layers alone. */
import { Effect, Layer, Result, Schema } from "effect"
import {
  bearer,
  builtInProtocols,
  get,
  type ImageDialect,
  imageCalls,
  imageCount,
  layerAdapters,
  ProtocolAdapter,
  Protocols,
  post,
  rootOf,
  type StatusNames,
  taskStatus,
  textOf,
  unusableAnswer,
  type VideoDialect,
  type VideoProtocolRow,
  videoCalls
} from "media-gateway/extend"

// Rows

const videoRow: VideoProtocolRow = {
  seconds: [6, 12],
  smart: "never",
  resolutions: ["540p", "1080p"],
  billing: "second_video",
  needsAppId: false,
  relays: false,
  relayFamily: null,
  parameters: { wind: { type: "number", minimum: 0, maximum: 1, description: "How much it moves" } }
}

export const layerToyProtocols = Layer.succeed(Protocols, {
  video: new Map([...builtInProtocols.video, ["vp_toy", videoRow]]),
  image: new Map([...builtInProtocols.image, ["ip_toy", { families: [] }]]),
  text: builtInProtocols.text
})

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ job: Schema.NonEmptyString }))
const isJob = Schema.is(
  Schema.Struct({
    state: Schema.String,
    file: Schema.optional(Schema.NonEmptyString),
    why: Schema.optional(Schema.String)
  })
)
const isDrawn = Schema.is(Schema.Struct({ files: Schema.Array(Schema.NonEmptyString) }))

// To the vendor

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.succeed(
    post(`${rootOf(account)}/jobs`, bearer(account), {
      toy: order.upstreamModel,
      say: textOf(order.blocks),
      seconds: order.seconds,
      lines: order.resolution,
      ...order.parameters
    })
  )

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(`${rootOf(account)}/jobs/${encodeURIComponent(upstreamId)}`, bearer(account)))

const generateRequest: ImageDialect["generateRequest"] = (account, { body, upstreamModel }) =>
  Result.succeed(
    post(`${rootOf(account)}/drawings`, bearer(account), {
      toy: upstreamModel,
      say: body.prompt,
      count: imageCount(body)
    })
  )

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.job)
    : Result.fail(unusableAnswer(account, answer))

const words: StatusNames = { open: ["busy"], finished: ["done"], failed: ["broken"] }

const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (!isJob(answer.body)) return Result.fail(unusableAnswer(account, answer))
  const { state: word, file, why } = answer.body
  const code = "failed"
  return taskStatus(account, answer, words, {
    status: word,
    videoUrl: file,
    code,
    message: why ?? null
  })
}

const readGenerated: ImageDialect["readGenerated"] = (account, answer) =>
  isDrawn(answer.body)
    ? Result.succeed({
        result: { created: 1, data: answer.body.files.map((url) => ({ url })) },
        surplus: 0
      })
    : Result.fail(unusableAnswer(account, answer))

// Calls

const makeVpToy = videoCalls("vp_toy", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled
})

const makeIpToy = imageCalls("ip_toy", { generateRequest, readGenerated })

/** The built-in adapters and the toy vendor's. */
export const layerToyAdapters = Layer.effect(
  ProtocolAdapter,
  Effect.gen(function* () {
    const builtIn = yield* ProtocolAdapter
    return ProtocolAdapter.of({
      video: new Map([...builtIn.video, ["vp_toy", yield* makeVpToy]]),
      image: new Map([...builtIn.image, ["ip_toy", yield* makeIpToy]]),
      text: builtIn.text
    })
  })
).pipe(Layer.provide(layerAdapters))
