/** What the adapter tests share: the adapters over real sockets, an account and its secrets. */
import { assert } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorLimits } from "../../src/adapters/wire/limits.ts"
import { layerVendorWire } from "../../src/adapters/wire/VendorWire.ts"
import type { SendOptions } from "../../src/adapters/wire/vendorAnswer.ts"
import { layerSecureRandom } from "../../src/crypto.ts"
import type { TextProtocol } from "../../src/domain/catalog/ProtocolTables.ts"
import {
  type ChannelAccount,
  ProtocolAdapter,
  type VideoOrder
} from "../../src/services/ProtocolAdapter.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import type { BrokenVendor } from "../support/brokenVendor.ts"

export const API_KEY = 'sk-"canary"/7=1'
export const APP_ID = "40712"

export const accountAt = (baseUrl: string, apiKey = API_KEY): ChannelAccount => ({
  channelId: "ch_test",
  baseUrl,
  apiKey: Redacted.make(apiKey),
  appId: APP_ID
})

/** Answers above this size are refused. */
export const MAX_BYTES = 16_384

const limitOf = (seconds: number): SendOptions => ({
  timeout: Duration.seconds(seconds),
  maxBytes: MAX_BYTES
})

/** All different, so that a call that takes another one's limit is seen. */
export const limitSeconds = {
  submit: 7,
  poll: 5,
  image: 11,
  text: 13,
  streamBegin: 17,
  streamIdle: 3,
  stream: 29
} as const

/** The connections the gateway itself has. */
export const layerSockets = Layer.provide(layerVendorWire, layerSecureRandom)

export const layerOverSockets = layerAdapters.pipe(
  Layer.provide(layerSockets),
  Layer.provide(
    Layer.succeed(VendorLimits, {
      submit: limitOf(limitSeconds.submit),
      poll: limitOf(limitSeconds.poll),
      pollInterval: Duration.seconds(2),
      image: limitOf(limitSeconds.image),
      imageStream: {
        ...limitOf(limitSeconds.image),
        firstBytesTimeout: Duration.seconds(limitSeconds.image),
        idleTimeout: Duration.seconds(limitSeconds.image)
      },
      text: limitOf(limitSeconds.text),
      stream: {
        ...limitOf(limitSeconds.stream),
        firstBytesTimeout: Duration.seconds(limitSeconds.streamBegin),
        idleTimeout: Duration.seconds(limitSeconds.streamIdle)
      }
    })
  )
)

export const layerWithSimulator = Layer.merge(layerOverSockets, layerSimulator({ port: 0 }))

/** Runs a call whose answer the vendor keeps back, up to its limit on the test's clock. */
export const runOutOfTime = Effect.fnUntraced(function* <A, E, R>(
  call: Effect.Effect<A, E, R>,
  vendor: BrokenVendor,
  seconds: number
) {
  const fiber = yield* Effect.forkChild(Effect.flip(call))
  yield* vendor.replied
  yield* TestClock.adjust(Duration.seconds(seconds - 1))
  assert.isUndefined(fiber.pollUnsafe(), "the call ended before its limit")
  yield* TestClock.adjust("1 second")
  return yield* Fiber.join(fiber)
})

/** The requests a simulated vendor saw while `call` ran, beside what came of it. */
export const seenDuring = Effect.fnUntraced(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
  const simulator = yield* Simulator
  yield* simulator.clearRequests
  const result = yield* Effect.result(call)
  return { result, requests: yield* simulator.requests }
})

const existing = <A>(adapter: A | undefined) => Effect.orDie(Effect.fromNullishOr(adapter))

export const videoAdapter = (protocol: string) =>
  Effect.flatMap(ProtocolAdapter, ({ video }) => existing(video.get(protocol)))

export const imageAdapter = (protocol: string) =>
  Effect.flatMap(ProtocolAdapter, ({ image }) => existing(image.get(protocol)))

export const textAdapter = (protocol: TextProtocol) =>
  Effect.flatMap(ProtocolAdapter, ({ text }) => existing(text.get(protocol)))

export const textBlock = (text: string) => ({ type: "text", text }) as const

/** A text order, but for what is said. */
export const orderOf = (more: Partial<VideoOrder>): VideoOrder => ({
  taskId: "vt_1",
  upstreamModel: "m-1",
  listedProtocol: "vp_a",
  blocks: [textBlock("a lighthouse at dusk")],
  seconds: 5,
  resolution: "720p",
  ratio: null,
  generateAudio: null,
  parameters: {},
  ...more
})

/** Cases by name, as the test runner shortens every other form of a title. */
export const named = <Case extends { readonly says: string }>(cases: ReadonlyArray<Case>) =>
  cases.map((one) => [one.says, one] as const)
