/** Two protocols of a toy vendor, put beside the built-in ones by layers alone. */
import { Effect, Layer, Schema } from "effect"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorLimits } from "../../src/adapters/wire/limits.ts"
import { VendorWire } from "../../src/adapters/wire/VendorWire.ts"
import { unusable } from "../../src/adapters/wire/vendorFailures.ts"
import { send } from "../../src/adapters/wire/vendorHttp.ts"
import { bearer, get, post } from "../../src/adapters/wire/vendorRequest.ts"
import { builtInProtocols } from "../../src/domain/catalog/ProtocolTables.ts"
import { imageCount } from "../../src/domain/image/ImageRequest.ts"
import { textOf } from "../../src/domain/video/VideoInput.ts"
import type { VideoProtocolRow } from "../../src/domain/video/VideoProtocol.ts"
import {
  type ImageAdapter,
  ProtocolAdapter,
  type VideoAdapter
} from "../../src/services/ProtocolAdapter.ts"
import { Protocols } from "../../src/services/Protocols.ts"

// Rows

const videoRow: VideoProtocolRow = {
  seconds: [6, 12],
  smart: "never",
  resolutions: ["540p", "1080p"],
  billing: "second_video",
  needsAppId: false,
  relays: false,
  relayFamily: null
}

export const layerToyProtocols = Layer.succeed(Protocols, {
  video: new Map([...builtInProtocols.video, ["vp_toy", videoRow]]),
  image: new Map([...builtInProtocols.image, ["ip_toy", { base64: false }]]),
  text: builtInProtocols.text
})

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ job: Schema.NonEmptyString }))
const isJob = Schema.is(
  Schema.Union([
    Schema.Struct({ state: Schema.Literal("busy") }),
    Schema.Struct({ state: Schema.Literal("done"), file: Schema.NonEmptyString }),
    Schema.Struct({ state: Schema.Literal("broken"), why: Schema.String })
  ])
)
const isDrawn = Schema.is(Schema.Struct({ files: Schema.Array(Schema.NonEmptyString) }))

// Calls

const makeVpToy = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const submit: VideoAdapter["submit"] = Effect.fn("vp_toy.submit")(function* (account, order) {
    const request = post(`${account.baseUrl}/jobs`, bearer(account), {
      toy: order.upstreamModel,
      say: textOf(order.blocks),
      seconds: order.seconds,
      lines: order.resolution
    })
    const answer = yield* send(wire, request, limits.submit)
    return answer.status < 300 && isSubmitted(answer.body)
      ? answer.body.job
      : yield* Effect.fail(unusable(account, answer))
  })

  const poll: VideoAdapter["poll"] = Effect.fn("vp_toy.poll")(function* (account, task) {
    const job = encodeURIComponent(task.upstreamId)
    const request = get(`${account.baseUrl}/jobs/${job}`, bearer(account))
    const answer = yield* send(wire, request, limits.poll)
    if (!isJob(answer.body)) return yield* Effect.fail(unusable(account, answer))
    switch (answer.body.state) {
      case "busy":
        return { _tag: "Processing" }
      case "done":
        return {
          _tag: "Succeeded",
          videoUrl: answer.body.file,
          usage: { completionTokens: null, outputSeconds: null }
        }
      case "broken":
        return { _tag: "Failed", code: "failed", message: answer.body.why }
    }
  })

  return { submit, poll } satisfies VideoAdapter
})

const makeIpToy = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fn("ip_toy.generate")(function* (
    account,
    { body, upstreamModel }
  ) {
    const request = post(`${account.baseUrl}/drawings`, bearer(account), {
      toy: upstreamModel,
      say: body.prompt,
      count: imageCount(body)
    })
    const answer = yield* send(wire, request, limits.image)
    if (!isDrawn(answer.body)) return yield* Effect.fail(unusable(account, answer))
    return { created: 1, data: answer.body.files.map((url) => ({ url })) }
  })

  return { generate } satisfies ImageAdapter
})

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
