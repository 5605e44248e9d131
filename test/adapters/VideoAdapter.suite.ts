/**
 * What every video adapter must do. A protocol brings its wire forms as data; the calls go to the
 * simulator where it can say what is needed, and to a broken vendor where it cannot.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { VideoProtocol } from "../../src/domain/VideoProtocol.ts"
import type { VideoOrder, VideoStatus } from "../../src/services/ProtocolAdapter.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { type Failure, failureOf, lost } from "./failures.ts"
import {
  API_KEY,
  accountAt,
  layerWithSimulator,
  limitSeconds,
  named,
  seenDuring,
  videoAdapter
} from "./support.ts"
import { type Dialect, vendorCallSuite } from "./vendorCall.suite.ts"

/** The vendor's id in all bodies a subject brings. */
export const UPSTREAM_ID = "901/a b"

export interface WireCase {
  readonly says: string
  readonly order: Partial<VideoOrder>
  /** After the base address. */
  readonly path: string
  readonly body: unknown
  /** Status of the simulated vendor's refusal; it takes the order when left out. */
  readonly refusedWith?: number
}

export interface VideoSubject {
  readonly protocol: VideoProtocol
  readonly dialect: Dialect
  readonly model: string
  readonly wires: ReadonlyArray<WireCase>
  /** What an operator may write after the host, and where a text order and a poll then go. */
  readonly bases: ReadonlyArray<{
    readonly base: string
    readonly submit: string
    readonly poll: string
  }>
  readonly submitted: Readonly<Record<string, unknown>>
  readonly submits: ReadonlyArray<{
    readonly says: string
    readonly reply: Reply
    readonly failure: Failure
  }>
  /** Statuses without a usable id in them. */
  readonly polls: ReadonlyArray<{
    readonly says: string
    readonly body: unknown
    readonly status: VideoStatus
  }>
  readonly brokenPolls: ReadonlyArray<{ readonly says: string; readonly body: unknown }>
  /** A poll answer that a task failed with this message. */
  readonly failedWith: (message: string) => Readonly<Record<string, unknown>>
  /** How simulated tasks end: the prompt's switch, the code, and how the message begins. */
  readonly endings: ReadonlyArray<readonly [word: string, code: string, message: string]>
  readonly usage: Extract<VideoStatus, { readonly _tag: "Succeeded" }>["usage"]
}

export const textBlock = (text: string) => ({ type: "text", text }) as const

/** Refusals of the simulated vendors by the word in the prompt. */
const refusedWords = [
  ["sim:moderate-input", 400, null],
  ["sim:refuse=403", 403, null],
  ["sim:rate", 429, 1],
  ["sim:http500", 500, null],
  ["sim:refuse=503", 503, null],
  ["sim:redirect", 302, null]
] as const

const lostWords = [
  ["sim:lost", "connection_lost"],
  ["sim:html", "broken_answer"],
  ["sim:truncated", "broken_answer"],
  ["sim:refuse=504", "timeout"]
] as const

export const videoAdapterSuite = (subject: VideoSubject): void => {
  const { protocol } = subject
  const ref = { upstreamId: UPSTREAM_ID, upstreamModel: subject.model }

  const orderOf = (order: Partial<VideoOrder> = {}): VideoOrder => ({
    taskId: "vt_1",
    upstreamModel: subject.model,
    blocks: [textBlock("a lighthouse at dusk")],
    seconds: 5,
    resolution: "720p",
    ratio: null,
    generateAudio: null,
    ...order
  })
  const prompted = (prompt: string) => orderOf({ blocks: [textBlock(prompt)] })

  const account = (apiKey = "sk-simulated") =>
    Effect.map(Simulator, ({ url }) => accountAt(`${url}/${protocol}`, apiKey))
  const submit = Effect.fnUntraced(function* (order: VideoOrder, apiKey?: string) {
    return yield* (yield* videoAdapter(protocol)).submit(yield* account(apiKey), order)
  })
  const poll = Effect.fnUntraced(function* (upstreamId: string) {
    const task = { upstreamId, upstreamModel: subject.model }
    return yield* (yield* videoAdapter(protocol)).poll(yield* account(), task)
  })
  const pollBroken = Effect.fnUntraced(function* (reply: Reply) {
    const vendor = yield* brokenVendor(reply)
    return yield* (yield* videoAdapter(protocol)).poll(accountAt(vendor.url), ref)
  })

  layer(layerWithSimulator)(protocol, (it) => {
    it.effect.each(named(subject.wires))("%s", ([, { order, path, body, refusedWith }]) =>
      Effect.gen(function* () {
        const { result, requests } = yield* seenDuring(submit(orderOf(order)))
        assert.deepStrictEqual(
          requests.map(({ method, path, body, query }) => ({ method, path, body, query })),
          [{ method: "POST", path: `/${protocol}${path}`, body, query: {} }]
        )
        if (refusedWith === undefined) {
          assert.isTrue(Result.isSuccess(result), "the simulated vendor refused the order")
          return
        }
        const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
        assert.strictEqual(failure._tag, "VendorRefused")
        assert.propertyVal(failure, "effectiveStatus", refusedWith)
      })
    )

    it.effect("an inline file goes out unchanged", () =>
      Effect.gen(function* () {
        const url = `data:image/png;base64,${"iVBOR+/=".repeat(50)}`
        const vendor = yield* brokenVendor({ body: subject.submitted })
        const adapter = yield* videoAdapter(protocol)
        const blocks = [textBlock("x"), { type: "image", role: "first_frame", url }] as const
        yield* adapter.submit(accountAt(vendor.url), orderOf({ blocks }))
        assert.include((yield* vendor.requests)[0]?.body, JSON.stringify(url))
      })
    )

    it.effect.each([...subject.bases])(
      "the base address https://host$base is brought to the interface's root",
      ({ base, submit, poll }) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor(({ method }) =>
            method === "GET" ? "reset" : { body: subject.submitted }
          )
          const adapter = yield* videoAdapter(protocol)
          const there = accountAt(`${vendor.url}${base}`)
          assert.strictEqual(yield* adapter.submit(there, orderOf()), UPSTREAM_ID)
          yield* Effect.flip(adapter.poll(there, ref))
          assert.deepStrictEqual(
            (yield* vendor.requests).map(({ method, target }) => `${method} ${target}`),
            [`POST ${submit}`, `GET ${poll}`]
          )
        })
    )

    it.effect("a task is in the works until it is done, and then shows its video", () =>
      Effect.gen(function* () {
        const id = yield* submit(orderOf())
        assert.deepStrictEqual(yield* poll(id), { _tag: "Processing" })
        assert.deepStrictEqual(yield* poll(id), { _tag: "Processing" })
        const done = yield* poll(id)
        const { url } = yield* Simulator
        assert.strictEqual(done._tag, "Succeeded")
        if (done._tag !== "Succeeded") return
        assert.isTrue(done.videoUrl.startsWith(`${url}/media/videos/5/${id}.mp4`))
        assert.deepStrictEqual(done.usage, subject.usage)
      })
    )

    it.effect.each([...subject.endings])(
      "a task with %s has failed as %s",
      ([word, code, message]) =>
        Effect.gen(function* () {
          const id = yield* submit(prompted(`x sim:slow=0 ${word}`))
          const status = yield* poll(id)
          assert.strictEqual(status._tag, "Failed")
          if (status._tag !== "Failed") return
          assert.strictEqual(status.code, code)
          assert.isTrue(status.message.startsWith(message), status.message)
        })
    )

    it.effect("a status word nobody knows leaves the task in the works", () =>
      Effect.gen(function* () {
        const id = yield* submit(prompted("x sim:unknown-status sim:slow=0"))
        assert.deepStrictEqual(yield* poll(id), { _tag: "Processing" })
      })
    )

    it.effect("a task the vendor forgot or never had is unknown", () =>
      Effect.gen(function* () {
        const id = yield* submit(prompted("x sim:forget"))
        assert.deepStrictEqual(yield* poll(id), { _tag: "Unknown" })
        assert.deepStrictEqual(yield* poll(UPSTREAM_ID), { _tag: "Unknown" })
      })
    )

    it.effect("a poll that fails at the vendor is no verdict, and the next one goes on", () =>
      Effect.gen(function* () {
        const id = yield* submit(prompted("x sim:poll500=1 sim:slow=1"))
        const failure = failureOf(yield* Effect.flip(poll(id)))
        assert.propertyVal(failure, "effectiveStatus", 500)
        assert.deepStrictEqual(yield* poll(id), { _tag: "Processing" })
      })
    )

    it.effect.each([...refusedWords])(
      "an order with %s is refused with %i",
      ([word, effectiveStatus, retryAfterSeconds]) =>
        Effect.gen(function* () {
          const { result, requests } = yield* seenDuring(submit(prompted(`x ${word}`)))
          const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
          assert.strictEqual(failure._tag, "VendorRefused")
          assert.propertyVal(failure, "effectiveStatus", effectiveStatus)
          assert.propertyVal(failure, "retryAfterSeconds", retryAfterSeconds)
          assert.strictEqual(requests.length, 1)
        })
    )

    it.effect.each([...lostWords])("an order with %s is lost by %s", ([word, reason]) =>
      Effect.gen(function* () {
        const { result, requests } = yield* seenDuring(submit(prompted(`x ${word}`)))
        const failure = failureOf(yield* Effect.flip(Effect.fromResult(result)))
        assert.strictEqual(failure._tag, "VendorLost")
        assert.propertyVal(failure, "reason", reason)
        assert.strictEqual(requests.length, 1)
      })
    )

    it.effect("a wrong key is refused with 401 and an unknown model with 404", () =>
      Effect.gen(function* () {
        const wrongKey = failureOf(yield* Effect.flip(submit(orderOf(), "bad-key")))
        assert.propertyVal(wrongKey, "effectiveStatus", 401)
        const unknownModel = yield* Effect.flip(submit(orderOf({ upstreamModel: "missing-1" })))
        assert.propertyVal(failureOf(unknownModel), "effectiveStatus", 404)
      })
    )

    it.effect.each(named(subject.submits))("a submit: %s", ([, { reply, failure }]) =>
      Effect.gen(function* () {
        const vendor = yield* brokenVendor(reply)
        const adapter = yield* videoAdapter(protocol)
        const error = yield* Effect.flip(adapter.submit(accountAt(vendor.url), orderOf()))
        assert.deepStrictEqual(failureOf(error), failure)
      })
    )

    it.effect.each(named(subject.polls))("a poll: %s", ([, { body, status }]) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* pollBroken({ body }), status)
      })
    )

    it.effect.each(named(subject.brokenPolls))("a poll that cannot be read: %s", ([, { body }]) =>
      Effect.gen(function* () {
        const failure = failureOf(yield* Effect.flip(pollBroken({ body: JSON.stringify(body) })))
        assert.deepStrictEqual(failure, lost("broken_answer", 200, body))
      })
    )

    it.effect("our credentials are hidden in what a failed task says", () =>
      Effect.gen(function* () {
        const status = yield* pollBroken({ body: subject.failedWith(`no: ${API_KEY}`) })
        assert.propertyVal(status, "message", "no: [redacted]")
      })
    )

    vendorCallSuite(it, {
      name: "a submit",
      call: (there) =>
        Effect.flatMap(videoAdapter(protocol), (adapter) => adapter.submit(there, orderOf())),
      good: subject.submitted,
      seconds: limitSeconds.submit,
      dialect: subject.dialect
    })

    vendorCallSuite(it, {
      name: "a poll",
      call: (there) =>
        Effect.flatMap(videoAdapter(protocol), (adapter) => adapter.poll(there, ref)),
      good: subject.failedWith("no"),
      seconds: limitSeconds.poll,
      dialect: subject.dialect
    })
  })
}
