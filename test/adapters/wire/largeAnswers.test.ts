/** Large answers that come at once: whose turn it is, and that everybody's comes. */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { assert, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Queue } from "effect"
import { HttpServerResponse } from "effect/http"
import { type LargeAnswers, makeLargeAnswers } from "../../../src/adapters/wire/largeAnswers.ts"
import { layerVendorWireWith, VendorWire } from "../../../src/adapters/wire/VendorWire.ts"
import { send } from "../../../src/adapters/wire/vendorHttp.ts"
import { get } from "../../../src/adapters/wire/vendorRequest.ts"
import { layerSecureRandom } from "../../../src/crypto.ts"
import type { RawAnswer } from "../../../src/domain/RawAnswer.ts"
import { responseOf } from "../../../src/http/handlers/respond.ts"

const MINUTE = 60_000
const limits = { timeout: Duration.minutes(1), maxBytes: 128 * 1024 * 1024, longTextBytes: 1024 }

/** Other answers that come while one waits that would be done long before them if it did not. */
const MANY = 50
const image = Buffer.from(
  `{"created":17,"data":[{"b64_json":"${"iVBORw0KGgo=".repeat(340_000)}"}]}`
)

/** Answers with the image; under `/stalled` all but its last byte, which `finish` writes. */
const imageVendor = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const stalled = new Set<ServerResponse>()
      const server = createServer((request, response) => {
        if (request.url === "/small") return void response.end("{}")
        response.writeHead(200, { "content-length": image.length })
        if (request.url !== "/stalled") return void response.end(image)
        stalled.add(response)
        response.write(image.subarray(0, -1))
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      return { server, stalled }
    }),
    ({ server }) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ),
  ({ server, stalled }) => {
    const address = server.address()
    const port = typeof address === "object" ? address?.port : null
    return {
      url: `http://127.0.0.1:${port}`,
      finish: Effect.sync(() => {
        for (const response of stalled) response.end(image.subarray(-1))
      })
    }
  }
)

/** A wire whose large answers get in line for room for one of them. */
const crowdedWire = Effect.fnUntraced(function* (maxWaitMillis: number) {
  const vendor = yield* imageVendor
  const arrivals = yield* Queue.unbounded<void>()
  const turns = makeLargeAnswers({ budgetBytes: image.length, maxWaitMillis })
  const watched: LargeAnswers = {
    enter: (bytes, goOn) => {
      Queue.offerUnsafe(arrivals, undefined)
      return turns.enter(bytes, goOn)
    }
  }
  const wire = Context.get(
    yield* Layer.build(
      Layer.provide(
        layerVendorWireWith(() => watched),
        layerSecureRandom
      )
    ),
    VendorWire
  )
  const ask = (path: string, timeout = limits.timeout) =>
    Effect.map(
      send(wire, get(`${vendor.url}${path}`, {}), { ...limits, timeout }),
      ({ large }) => large?.raw
    )
  return {
    ...vendor,
    ask,
    /** The same beside the test, once it is in line. */
    begin: (path: string) =>
      Effect.tap(Effect.forkChild(ask(path), { startImmediately: true }), () =>
        Queue.take(arrivals)
      ),
    others: Effect.forEach(Array.from({ length: MANY }), () => ask("/small"), { discard: true })
  }
})

/** Hands an answer on to a client and tells whether it was the image. */
const isHandedOn = (answer: RawAnswer | undefined) =>
  answer === undefined
    ? Effect.succeed(false)
    : Effect.map(
        Effect.promise(() => HttpServerResponse.toWeb(responseOf(answer)).arrayBuffer()),
        (bytes) => image.equals(new Uint8Array(bytes))
      )

it.live("one waits until another is with its client, and comes byte by byte as it is", () =>
  Effect.gen(function* () {
    const { begin, finish, others } = yield* crowdedWire(MINUTE)
    const first = yield* begin("/stalled")
    const second = yield* begin("/image")
    yield* others
    assert.isUndefined(second.pollUnsafe(), "read beside one that was not read to its end")
    yield* finish
    const answer = yield* Fiber.join(first)
    yield* others
    assert.isUndefined(second.pollUnsafe(), "read beside one that was still in memory")
    assert.isTrue(yield* isHandedOn(answer))
    assert.isTrue(yield* isHandedOn(yield* Fiber.join(second)))
  })
)

it.live("a vendor that stalls takes nobody's answer for good", () =>
  Effect.gen(function* () {
    const { begin } = yield* crowdedWire(1)
    yield* begin("/stalled")
    const second = yield* begin("/image")
    assert.isTrue(yield* isHandedOn(yield* Fiber.join(second)))
  })
)

it.live("an answer that nobody hands on does not count for good", () => {
  const turns = makeLargeAnswers({ budgetBytes: 10, maxWaitMillis: 1 })
  turns.enter(10, () => undefined).end()
  return Effect.sync(() => {
    const next = turns.enter(10, () => undefined)
    const hasRoom = next.isReading()
    next.release()
    return hasRoom
  }).pipe(Effect.delay("1 millis"), Effect.repeat({ until: (hasRoom) => hasRoom }))
})

it.live("one that waits can be given up or time out, and those behind it have their turns", () =>
  Effect.gen(function* () {
    const { begin, ask, finish } = yield* crowdedWire(MINUTE)
    const first = yield* begin("/stalled")
    const givenUp = yield* begin("/image")
    const late = yield* Effect.flip(ask("/image", Duration.millis(20)))
    assert.propertyVal(late, "reason", "timeout")
    const last = yield* Effect.forkChild(ask("/image"), { startImmediately: true })
    yield* Fiber.interrupt(givenUp)
    yield* finish
    assert.isTrue(yield* isHandedOn(yield* Fiber.join(first)))
    assert.isTrue(yield* isHandedOn(yield* Fiber.join(last)))
  })
)

it.live("one that is broken off or is no image makes room", () =>
  Effect.gen(function* () {
    const { ask, begin } = yield* crowdedWire(MINUTE)
    yield* Fiber.interrupt(yield* begin("/stalled"))
    assert.isTrue(yield* isHandedOn(yield* ask("/image")))
  })
)

/** Answers in line, and the names of those that were told to go on. */
const line = (budgetBytes: number) => {
  const turns = makeLargeAnswers({ budgetBytes, maxWaitMillis: MINUTE })
  const told: Array<string> = []
  return { told, enter: (name: string, bytes: number) => turns.enter(bytes, () => told.push(name)) }
}

it.effect("turns come in the order of arrival, and never within another answer's calls", () =>
  Effect.gen(function* () {
    const { told, enter } = line(10)
    const first = enter("first", 25)
    assert.isTrue(first.isReading(), "one alone may have any size")
    const second = enter("second", 6)
    const third = enter("third", 6)
    const fourth = enter("fourth", 2)
    first.release()
    assert.deepStrictEqual(told, [])
    yield* Effect.promise(() => Promise.resolve())
    assert.deepStrictEqual(told, ["second"])
    assert.deepStrictEqual([third.isReading(), fourth.isReading()], [false, false])
    second.release()
    yield* Effect.promise(() => Promise.resolve())
    assert.deepStrictEqual(told, ["second", "third", "fourth"])
  })
)

it.effect("what turns out larger than it was said to be counts as what it is", () =>
  Effect.sync(() => {
    const { enter } = line(10)
    const first = enter("first", 4)
    first.noteArrived(3)
    assert.isTrue(enter("second", 6).isReading())
    first.noteArrived(9)
    const third = enter("third", 1)
    assert.isFalse(third.isReading())
    first.release()
    first.release()
    assert.isTrue(third.isReading())
    assert.isFalse(enter("fourth", 4).isReading(), "what left twice was counted twice")
  })
)

it("one that has no time left does not wait for others", () => {
  const turns = makeLargeAnswers({ budgetBytes: 1, maxWaitMillis: MINUTE })
  const enter = (mayWaitMillis?: number) => turns.enter(1, () => undefined, mayWaitMillis)
  const [first, patient, pressed] = [enter(), enter(), enter(0)]
  assert.deepStrictEqual(
    [first, patient, pressed].map(({ isReading }) => isReading()),
    [true, false, true]
  )
  for (const one of [first, patient, pressed]) one.release()
})
