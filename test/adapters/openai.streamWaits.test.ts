import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { brokenVendor } from "../support/brokenVendor.ts"
import { heldStream } from "../support/heldStream.ts"
import { adapter, chunk, events, finish, order, sse, streamFrom } from "./chatStreams.ts"
import { failureOf, lost } from "./failures.ts"
import { accountAt, layerOverSockets, limitSeconds, named, runOutOfTime } from "./support.ts"

layer(layerOverSockets)("how long a stream of openai is waited for", (it) => {
  it.effect("the end is not waited on, and the connection closed when nothing follows it", () =>
    Effect.gen(function* () {
      const vendor = yield* heldStream
      const streaming = yield* Effect.forkChild(streamFrom(vendor.url))
      yield* vendor.write(events(chunk({ content: "y" }), finish, "[DONE]"))
      assert.isNull((yield* Fiber.join(streaming)).failure)
      yield* vendor.closed
    })
  )

  it.effect("a connection whose answer ends soon after its end is used again", () =>
    Effect.gen(function* () {
      const vendor = yield* heldStream
      const ask = Effect.gen(function* () {
        const streaming = yield* Effect.forkChild(streamFrom(vendor.url))
        yield* vendor.write(events(chunk({ content: "y" }), finish, "[DONE]"))
        yield* Fiber.join(streaming)
        const port = yield* vendor.clientPort
        yield* vendor.end
        return port
      })
      const first = yield* ask
      yield* Effect.repeat(ask, { until: (port) => port === first })
    })
  )

  it.effect("a vendor that keeps a stream waiting is lost at its limit", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor("hang")
      const { stream } = yield* adapter
      const failure = yield* runOutOfTime(
        stream(accountAt(vendor.url), order, () => Effect.void),
        vendor,
        limitSeconds.streamBegin
      )
      assert.deepStrictEqual(failureOf(failure), lost("timeout"))
    })
  )

  /** A stream that writes a word every so many seconds, until so many seconds are over. */
  const slowly = Effect.fnUntraced(function* (pauseSeconds: number, totalSeconds: number) {
    const vendor = yield* heldStream
    let taken = 0
    const { stream } = yield* adapter
    const streaming = yield* Effect.forkChild(
      Effect.result(
        stream(accountAt(vendor.url), order, () =>
          Effect.sync(() => {
            taken += 1
          })
        )
      )
    )
    const speak = Effect.fnUntraced(function* (text: string) {
      const before = taken
      yield* vendor.write(text)
      while (taken === before && streaming.pollUnsafe() === undefined) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
    })
    yield* speak(events(chunk({ content: "a" })))
    for (let seconds = pauseSeconds; seconds <= totalSeconds; seconds += pauseSeconds) {
      yield* TestClock.adjust(Duration.seconds(pauseSeconds))
      yield* speak(events(chunk({ content: "b" })))
    }
    return { vendor, streaming }
  })

  it.effect("a stream may take longer than a whole answer while it goes on", () =>
    Effect.gen(function* () {
      const { vendor, streaming } = yield* slowly(2, 26)
      yield* vendor.write(events(finish, "[DONE]"))
      const result = yield* Fiber.join(streaming)
      assert.strictEqual(result._tag, "Success")
    })
  )

  it.effect.each(
    named([
      { says: "goes silent", pause: 2, total: 4, last: limitSeconds.streamIdle },
      { says: "never ends", pause: 2, total: 28, last: 1 }
    ])
  )("a stream that %s is lost at its limit", ([, { pause, total, last }]) =>
    Effect.gen(function* () {
      const { streaming } = yield* slowly(pause, total)
      yield* TestClock.adjust(Duration.millis(last * 1000 - 1))
      assert.isUndefined(streaming.pollUnsafe())
      yield* TestClock.adjust("1 milli")
      const failure = yield* Effect.flip(Effect.fromResult(yield* Fiber.join(streaming)))
      assert.deepStrictEqual(failureOf(failure), lost("timeout", 200))
    })
  )

  it.effect("the time a client takes is not the vendor's", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(sse(events(chunk({ content: "a" }), finish, "[DONE]")))
      const { stream } = yield* adapter
      const taking = yield* Latch.make()
      const take = () => Effect.andThen(taking.open, Effect.sleep("1 hour"))
      const fiber = yield* Effect.forkChild(stream(accountAt(vendor.url), order, take))
      yield* taking.await
      while (fiber.pollUnsafe() === undefined) {
        yield* TestClock.adjust("1 hour")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      yield* Fiber.join(fiber)
    })
  )
})
