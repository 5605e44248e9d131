/** What every adapter must do, whichever vendor answers. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import {
  ProtocolAdapter,
  type VideoOrder,
  type VideoStatus
} from "../../src/services/ProtocolAdapter.ts"
import { accountAt, orderOf, textBlock } from "../adapters/support.ts"

/** A protocol, and a model its vendor makes from text alone. */
export interface Spoken {
  readonly protocol: string
  readonly listedProtocol: string
  readonly upstreamModel: string
  /** What an order of a video has, where its vendor makes no 5 seconds of 720p. */
  readonly usual?: Partial<VideoOrder>
}

/** Vendors that obey the words of the simulator in a prompt, such as `sim:refuse=403`. */
export interface VendorWorld<R> {
  readonly vendors: Layer.Layer<ProtocolAdapter | R, unknown>
  /** Base address of a channel of the protocol. */
  baseUrl(protocol: string): Effect.Effect<string, never, R>
  /** Jobs the vendors took on so far. */
  readonly jobs: Effect.Effect<number, never, R>
}

const PLENTY = 20

export const protocolAdapterSuite = <R>(
  name: string,
  world: VendorWorld<R>,
  spoken: {
    readonly video: ReadonlyArray<Spoken>
    readonly image: ReadonlyArray<Spoken>
  }
): void => {
  const accountOf = ({ protocol }: Spoken) =>
    Effect.map(world.baseUrl(protocol), (url) => accountAt(url, "vendor-key-1"))

  const videoOf = Effect.fnUntraced(function* (way: Spoken) {
    const { video } = yield* ProtocolAdapter
    const adapter = yield* Effect.fromNullishOr(video.get(way.protocol))
    const account = yield* accountOf(way)
    const { upstreamModel, listedProtocol } = way
    return {
      submit: (text: string) =>
        adapter.submit(
          account,
          orderOf({ upstreamModel, listedProtocol, ...way.usual, blocks: [textBlock(text)] })
        ),
      poll: (upstreamId: string) =>
        adapter.poll(account, { upstreamId, upstreamModel, listedProtocol })
    }
  })

  const generate = Effect.fnUntraced(function* (way: Spoken, prompt: string, n: number) {
    const { image } = yield* ProtocolAdapter
    const adapter = yield* Effect.fromNullishOr(image.get(way.protocol))
    const body = { model: "our-model", prompt, n }
    return yield* adapter.generate(yield* accountOf(way), {
      upstreamModel: way.upstreamModel,
      body
    })
  })

  /** What came of the call, and how many jobs it started. */
  const counted = Effect.fnUntraced(function* <A, E, Q>(call: Effect.Effect<A, E, Q>) {
    const before = yield* world.jobs
    const answer = yield* call
    return { answer, started: (yield* world.jobs) - before }
  })

  layer(world.vendors, { excludeTestServices: true })(name, (it) => {
    for (const way of spoken.video) {
      const { protocol } = way

      it.effect(`${protocol}: a submit starts one job, which is in the works and then done`, () =>
        Effect.gen(function* () {
          const vendor = yield* videoOf(way)
          const { answer: id, started } = yield* counted(vendor.submit("a lighthouse"))
          assert.strictEqual(started, 1)
          const seen: Array<VideoStatus["_tag"]> = []
          let status: VideoStatus = { _tag: "Unknown" }
          do {
            status = yield* vendor.poll(id)
            seen.push(status._tag)
          } while (status._tag === "Processing" && seen.length < PLENTY)
          assert.strictEqual(seen[0], "Processing")
          assert.strictEqual(status._tag, "Succeeded")
          if (status._tag !== "Succeeded") return
          assert.match(status.videoUrl, /^https?:\/\//)
          assert.deepStrictEqual(yield* vendor.poll(id), status)
        })
      )

      it.effect(
        `${protocol}: two submits are two jobs, each with an id and an end of its own`,
        () =>
          Effect.gen(function* () {
            const vendor = yield* videoOf(way)
            const good = yield* vendor.submit("a lighthouse sim:slow=0")
            const bad = yield* vendor.submit("a lighthouse sim:slow=0 sim:fail")
            assert.notStrictEqual(good, bad)
            const ends = [yield* vendor.poll(good), yield* vendor.poll(bad)]
            assert.deepStrictEqual(
              ends.map(({ _tag }) => _tag),
              ["Succeeded", "Failed"]
            )
          })
      )

      it.effect(`${protocol}: a refused submit starts nothing and says what the vendor said`, () =>
        Effect.gen(function* () {
          const vendor = yield* videoOf(way)
          const refused = Effect.flip(vendor.submit("a lighthouse sim:refuse=403"))
          const { answer, started } = yield* counted(refused)
          assert.deepInclude(answer, { _tag: "VendorRefused", effectiveStatus: 403 })
          assert.strictEqual(started, 0)
        })
      )

      it.effect(`${protocol}: a submit whose answer does not come is lost, not refused`, () =>
        Effect.gen(function* () {
          const vendor = yield* videoOf(way)
          const lost = yield* Effect.flip(vendor.submit("a lighthouse sim:lost"))
          assert.deepInclude(lost, { _tag: "VendorLost", reason: "connection_lost" })
        })
      )

      it.effect(`${protocol}: an id the vendor does not know (any more) is unknown`, () =>
        Effect.gen(function* () {
          const vendor = yield* videoOf(way)
          const forgotten = yield* vendor.submit("a lighthouse sim:forget")
          for (const id of [forgotten, "never-given"]) {
            assert.deepStrictEqual(yield* vendor.poll(id), { _tag: "Unknown" })
          }
        })
      )
    }

    for (const way of spoken.image) {
      const { protocol } = way

      it.effect(`${protocol}: as many images come as were ordered, for one job`, () =>
        Effect.gen(function* () {
          const { answer, started } = yield* counted(generate(way, "a lighthouse", 2))
          const { created, data } = "created" in answer ? answer : {}
          assert.isTrue(Number.isSafeInteger(created))
          assert.lengthOf(Array.isArray(data) ? data : [], 2)
          assert.strictEqual(started, 1)
        })
      )

      it.effect(`${protocol}: refused images are none, and lost ones are not refused`, () =>
        Effect.gen(function* () {
          const refused = Effect.flip(generate(way, "a lighthouse sim:refuse=403", 1))
          const { answer, started } = yield* counted(refused)
          assert.deepInclude(answer, { _tag: "VendorRefused", effectiveStatus: 403 })
          assert.strictEqual(started, 0)
          const lost = yield* Effect.flip(generate(way, "a lighthouse sim:lost", 1))
          assert.deepInclude(lost, { _tag: "VendorLost", reason: "connection_lost" })
        })
      )
    }
  })
}
