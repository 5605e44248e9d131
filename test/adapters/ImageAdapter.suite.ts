/** What every image adapter must do; a protocol brings its wire forms as data. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { ImageProtocol } from "../../src/domain/image/ImageProtocol.ts"
import type { ImageBody } from "../../src/domain/image/ImageRequest.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { type Failure, failureOf, refused } from "./failures.ts"
import { accountAt, imageAdapter, layerOverSockets, limitSeconds, named } from "./support.ts"
import { type Dialect, vendorCallSuite } from "./vendorCall.suite.ts"

/** An order without its model; the fields of vendors may stand in it. */
export type ImageWords = Omit<ImageBody, "model"> & Readonly<Record<string, unknown>>

export interface ImageSubject {
  readonly protocol: ImageProtocol | "fal" | "replicate"
  readonly dialect: Dialect
  /** The vendor's name of the model; clients call it "our-model". */
  readonly upstreamModel: string
  /** What the channel of the wire cases has after its host. */
  readonly channelPath: string
  /** Where one protocol has several families. */
  readonly name?: string
  /** What the client sends beside its model, where it goes, and how. */
  /** The images of the other orders; 2 when left out. */
  readonly ordered?: number
  /** Orders that have no place at the vendor, and the refusal that is built instead. */
  readonly unsent?: ReadonlyArray<{
    readonly says: string
    readonly body: ImageWords
    readonly refusal: { readonly body: unknown; readonly message: string }
  }>
  readonly wires: ReadonlyArray<{
    readonly says: string
    readonly body: ImageWords
    readonly path: string
    readonly wire: unknown
    /** Images the simulated vendor makes of it; left out where it would refuse the order. */
    readonly images?: number
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

export const imageOrder = (upstreamModel: string, body: ImageWords) => ({
  upstreamModel,
  body: { ...body, model: "our-model" }
})

export const imageAdapterSuite = (subject: ImageSubject): void => {
  const { protocol, upstreamModel } = subject
  const order = imageOrder(upstreamModel, { prompt: "x", n: subject.ordered ?? 2 })

  const generateBroken = Effect.fnUntraced(function* (reply: Reply) {
    const vendor = yield* brokenVendor(reply)
    return yield* (yield* imageAdapter(protocol)).generate(accountAt(vendor.url), order)
  })

  layer(layerOverSockets)(subject.name ?? protocol, (it) => {
    it.effect.each(named(subject.wires))("%s", ([, { body, path, wire }]) =>
      Effect.gen(function* () {
        const vendor = yield* brokenVendor({ body: subject.good })
        const adapter = yield* imageAdapter(protocol)
        const there = accountAt(`${vendor.url}${subject.channelPath}`)
        yield* adapter.generate(there, imageOrder(upstreamModel, body))
        assert.deepStrictEqual(
          (yield* vendor.requests).map(({ method, target, body }) => ({
            method,
            target,
            body: JSON.parse(body)
          })),
          [{ method: "POST", target: path, body: wire }]
        )
      })
    )

    it.effect.each(named(subject.unsent ?? []))("nothing is sent: %s", ([, { body, refusal }]) =>
      Effect.gen(function* () {
        const vendor = yield* brokenVendor({ body: subject.good })
        const adapter = yield* imageAdapter(protocol)
        const order = imageOrder(upstreamModel, body)
        const failure = yield* Effect.flip(adapter.generate(accountAt(vendor.url), order))
        const { body: refused400, message } = refusal
        assert.deepStrictEqual(failureOf(failure), refused(400, refused400, { message }))
        assert.isTrue(Result.isFailure(adapter.checkOrder?.(order) ?? Result.void))
        assert.deepStrictEqual(yield* vendor.requests, [])
      })
    )

    it.effect.each([...subject.bases])(
      "the base address https://host$base is brought to the interface's root",
      ({ base, target }) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor({ body: subject.good })
          const adapter = yield* imageAdapter(protocol)
          yield* adapter.generate(accountAt(`${vendor.url}${base}`), order)
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

    vendorCallSuite(it, {
      name: "a generation",
      call: (there) =>
        Effect.flatMap(imageAdapter(protocol), (adapter) => adapter.generate(there, order)),
      good: subject.good,
      seconds: limitSeconds.image,
      dialect: subject.dialect
    })
  })
}
