/** What the simulated vendor of an image protocol and its adapter make of each other. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { failureOf } from "./failures.ts"
import { type ImageSubject, imageOrder } from "./ImageAdapter.suite.ts"
import { accountAt, imageAdapter, layerWithSimulator, named, seenDuring } from "./support.ts"

export interface SimulatedImageSubject
  extends Pick<ImageSubject, "protocol" | "upstreamModel" | "wires"> {
  /** What a channel of the simulator has after the protocol in its base address. */
  readonly version: string
  /** The status for images that the vendor refuses after it made them; 400 when left out. */
  readonly moderatedOutput?: number
  /** Whether the vendor answers a task, whose polls need the machine's own clock. */
  readonly isPolled?: boolean
}

const refusedWords = (moderatedOutput: number) => [
  ["sim:moderate-input", 400, null] as const,
  ["sim:moderate-output", moderatedOutput, null] as const,
  ["sim:refuse=402", 402, null] as const,
  ["sim:rate", 429, 1] as const,
  ["sim:http500", 500, null] as const,
  ["sim:refuse=504", 504, null] as const,
  ["sim:redirect", 302, null] as const
]

const lostWords = [
  ["sim:lost", "connection_lost"],
  ["sim:html", "broken_answer"],
  ["sim:truncated", "broken_answer"]
] as const

export const imageSimulatorSuite = (subject: SimulatedImageSubject): void => {
  const { protocol, upstreamModel, version, moderatedOutput = 400, isPolled = false } = subject
  const slow = isPolled ? " sim:slow=0" : ""
  const orderWith = (prompt: string) => imageOrder(upstreamModel, { prompt: `${prompt}${slow}` })

  const generate = Effect.fnUntraced(function* (
    order: ReturnType<typeof imageOrder>,
    apiKey = "sk-simulated"
  ) {
    const { url } = yield* Simulator
    const there = accountAt(`${url}/${protocol}${version}`, apiKey)
    const call = (yield* imageAdapter(protocol)).generate(there, order)
    return yield* isPolled ? TestClock.withLive(call) : call
  })

  layer(layerWithSimulator)(`${protocol}, simulated`, (it) => {
    it.effect.each(named(subject.wires.filter((wire) => wire.images !== undefined)))(
      "%s",
      ([, { body, path, wire, images }]) =>
        Effect.gen(function* () {
          const { result, requests } = yield* seenDuring(generate(imageOrder(upstreamModel, body)))
          assert.deepStrictEqual(
            requests
              .filter(({ method }) => method === "POST")
              .map(({ method, path, body, query }) => ({ method, path, body, query })),
            [{ method: "POST", path: `/${protocol}${path}`, body: wire, query: {} }]
          )
          const made = Result.getOrThrow(result)
          const data = "data" in made ? made.data : null
          assert.strictEqual(Array.isArray(data) ? data.length : null, images)
          const { book } = yield* Simulator
          assert.propertyVal((yield* book).at(-1), "event", "succeeded")
        })
    )

    it.effect.each(refusedWords(moderatedOutput))(
      "an order with %s is refused with %i",
      ([word, effectiveStatus, retryAfterSeconds]) =>
        Effect.gen(function* () {
          const { result, requests } = yield* seenDuring(generate(orderWith(`x ${word}`)))
          const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
          assert.strictEqual(failure._tag, "VendorRefused")
          assert.propertyVal(failure, "effectiveStatus", effectiveStatus)
          assert.propertyVal(failure, "retryAfterSeconds", retryAfterSeconds)
          assert.strictEqual(requests.filter(({ method }) => method === "POST").length, 1)
        })
    )

    it.effect.each([...lostWords])("an order with %s is lost by %s", ([word, reason]) =>
      Effect.gen(function* () {
        const { result, requests } = yield* seenDuring(generate(orderWith(`x ${word}`)))
        const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
        assert.strictEqual(failure._tag, "VendorLost")
        assert.propertyVal(failure, "reason", reason)
        assert.strictEqual(requests.length, 1)
      })
    )

    it.effect("a wrong key is refused with 401, and an unknown model as one of the account", () =>
      Effect.gen(function* () {
        const wrongKey = yield* Effect.flip(generate(orderWith("x"), "bad-key"))
        assert.propertyVal(failureOf(wrongKey), "effectiveStatus", 401)
        const order = { ...orderWith("x"), upstreamModel: "missing-1" }
        const unknownModel = yield* Effect.flip(generate(order))
        assert.propertyVal(failureOf(unknownModel), "effectiveStatus", 403)
      })
    )
  })
}
