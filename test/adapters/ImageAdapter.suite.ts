/** What every image adapter must do; a protocol brings its wire forms as data. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { ImageProtocol } from "../../src/domain/ImageProtocol.ts"
import type { ImageBody } from "../../src/domain/ImageRequest.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { type Failure, failureOf } from "./failures.ts"
import {
  accountAt,
  imageAdapter,
  layerWithSimulator,
  limitSeconds,
  named,
  seenDuring
} from "./support.ts"
import { type Dialect, vendorCallSuite } from "./vendorCall.suite.ts"

export interface ImageSubject {
  readonly protocol: ImageProtocol
  readonly dialect: Dialect
  /** The vendor's name of the model; clients call it "our-model". */
  readonly upstreamModel: string
  /** What a channel of the simulator has after the protocol in its base address. */
  readonly version: string
  /** What the client sends beside its model, where it goes under the base, and how. */
  readonly wires: ReadonlyArray<{
    readonly says: string
    readonly body: Omit<ImageBody, "model"> & { readonly prompt: string }
    readonly path: string
    readonly wire: unknown
    /** Images the simulated vendor made of it. */
    readonly images: number
  }>
  readonly bases: ReadonlyArray<{ readonly base: string; readonly target: string }>
  readonly good: Readonly<Record<string, unknown>>
  readonly results: ReadonlyArray<{
    readonly says: string
    readonly reply: Readonly<Record<string, unknown>>
    readonly result: Readonly<Record<string, unknown>>
  }>
  readonly failures: ReadonlyArray<{
    readonly says: string
    readonly reply: Reply
    readonly failure: Failure
  }>
}

const refusedWords = [
  ["sim:moderate-input", 400, null],
  ["sim:moderate-output", 400, null],
  ["sim:refuse=402", 402, null],
  ["sim:rate", 429, 1],
  ["sim:http500", 500, null],
  ["sim:redirect", 302, null]
] as const

const lostWords = [
  ["sim:lost", "connection_lost"],
  ["sim:html", "broken_answer"],
  ["sim:truncated", "broken_answer"],
  ["sim:refuse=504", "timeout"]
] as const

export const imageAdapterSuite = (subject: ImageSubject): void => {
  const { protocol, upstreamModel, version } = subject

  const orderOf = (body: Omit<ImageBody, "model"> & { readonly prompt: string }) => ({
    upstreamModel,
    body: { ...body, model: "our-model" }
  })
  const prompted = (prompt: string) => orderOf({ prompt })

  const generate = Effect.fnUntraced(function* (
    order: ReturnType<typeof orderOf>,
    apiKey = "sk-simulated"
  ) {
    const { url } = yield* Simulator
    const there = accountAt(`${url}/${protocol}${version}`, apiKey)
    return yield* (yield* imageAdapter(protocol)).generate(there, order)
  })
  const generateBroken = Effect.fnUntraced(function* (reply: Reply) {
    const vendor = yield* brokenVendor(reply)
    return yield* (yield* imageAdapter(protocol)).generate(accountAt(vendor.url), prompted("x"))
  })

  layer(layerWithSimulator)(protocol, (it) => {
    it.effect.each(named(subject.wires))("%s", ([, { body, path, wire, images }]) =>
      Effect.gen(function* () {
        const { result, requests } = yield* seenDuring(generate(orderOf(body)))
        assert.deepStrictEqual(
          requests.map(({ method, path, body, query }) => ({ method, path, body, query })),
          [{ method: "POST", path: `/${protocol}${path}`, body: wire, query: {} }]
        )
        const made = Result.getOrThrow(result)
        assert.strictEqual(Array.isArray(made.data) ? made.data.length : null, images)
        const { book } = yield* Simulator
        assert.propertyVal((yield* book).at(-1), "event", "succeeded")
      })
    )

    it.effect.each([...subject.bases])(
      "the base address https://host$base is brought to the interface's root",
      ({ base, target }) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor({ body: subject.good })
          const adapter = yield* imageAdapter(protocol)
          yield* adapter.generate(accountAt(`${vendor.url}${base}`), prompted("x"))
          assert.deepStrictEqual(
            (yield* vendor.requests).map(({ method, target }) => `${method} ${target}`),
            [`POST ${target}`]
          )
        })
    )

    it.effect.each(named(subject.results))("an answer: %s", ([, { reply, result }]) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* generateBroken({ body: reply }), result)
      })
    )

    it.effect.each(named(subject.failures))("a failure: %s", ([, { reply, failure }]) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(generateBroken(reply))
        assert.deepStrictEqual(failureOf(error), failure)
      })
    )

    it.effect.each([...refusedWords])(
      "an order with %s is refused with %i",
      ([word, effectiveStatus, retryAfterSeconds]) =>
        Effect.gen(function* () {
          const { result, requests } = yield* seenDuring(generate(prompted(`x ${word}`)))
          const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
          assert.strictEqual(failure._tag, "VendorRefused")
          assert.propertyVal(failure, "effectiveStatus", effectiveStatus)
          assert.propertyVal(failure, "retryAfterSeconds", retryAfterSeconds)
          assert.strictEqual(requests.length, 1)
        })
    )

    it.effect.each([...lostWords])("an order with %s is lost by %s", ([word, reason]) =>
      Effect.gen(function* () {
        const { result, requests } = yield* seenDuring(generate(prompted(`x ${word}`)))
        const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
        assert.strictEqual(failure._tag, "VendorLost")
        assert.propertyVal(failure, "reason", reason)
        assert.strictEqual(requests.length, 1)
      })
    )

    it.effect("a wrong key is refused with 401 and an unknown model with 404", () =>
      Effect.gen(function* () {
        const wrongKey = yield* Effect.flip(generate(prompted("x"), "bad-key"))
        assert.propertyVal(failureOf(wrongKey), "effectiveStatus", 401)
        const order = { ...prompted("x"), upstreamModel: "missing-1" }
        const unknownModel = yield* Effect.flip(generate(order))
        assert.propertyVal(failureOf(unknownModel), "effectiveStatus", 404)
      })
    )

    vendorCallSuite(it, {
      name: "a generation",
      call: (there) =>
        Effect.flatMap(imageAdapter(protocol), (adapter) => adapter.generate(there, prompted("x"))),
      good: subject.good,
      seconds: limitSeconds.image,
      dialect: subject.dialect
    })
  })
}
