/** What the simulated vendor of a protocol and its adapter make of each other. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { VideoOrder, VideoStatus } from "../../src/services/ProtocolAdapter.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { failureOf } from "./failures.ts"
import {
  accountAt,
  layerWithSimulator,
  named,
  orderOf,
  seenDuring,
  textBlock,
  videoAdapter
} from "./support.ts"
import { UPSTREAM_ID, type VideoSubject } from "./VideoAdapter.suite.ts"

export interface SimulatedVideoSubject
  extends Pick<VideoSubject, "protocol" | "listedProtocol" | "model" | "wires"> {
  /** How simulated tasks end: the prompt's switch, the code, and how the message begins. */
  readonly endings: ReadonlyArray<readonly [word: string, code: string, message: string]>
  readonly usage: Extract<VideoStatus, { readonly _tag: "Succeeded" }>["usage"]
}

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
  ["sim:truncated", "broken_answer"]
] as const

export const videoSimulatorSuite = (subject: SimulatedVideoSubject): void => {
  const { protocol, listedProtocol = protocol } = subject
  const order = (more: Partial<VideoOrder> = {}) =>
    orderOf({ upstreamModel: subject.model, listedProtocol, ...more })
  const prompted = (prompt: string) => order({ blocks: [textBlock(prompt)] })

  const account = (apiKey = "sk-simulated") =>
    Effect.map(Simulator, ({ url }) => accountAt(`${url}/${protocol}`, apiKey))
  const submit = Effect.fnUntraced(function* (order: VideoOrder, apiKey?: string) {
    return yield* (yield* videoAdapter(protocol)).submit(yield* account(apiKey), order)
  })
  const poll = Effect.fnUntraced(function* (upstreamId: string) {
    const task = { upstreamId, upstreamModel: subject.model, listedProtocol }
    return yield* (yield* videoAdapter(protocol)).poll(yield* account(), task)
  })

  layer(layerWithSimulator)(`${protocol} as ${listedProtocol}, simulated`, (it) => {
    it.effect.each(named(subject.wires))("%s", ([, { order: more, path, body, refusedWith }]) =>
      Effect.gen(function* () {
        const { result, requests } = yield* seenDuring(submit(order(more)))
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

    it.effect("a task is in the works until it is done, and then shows its video", () =>
      Effect.gen(function* () {
        const id = yield* submit(order())
        assert.strictEqual((yield* poll(id))._tag, "Processing")
        assert.strictEqual((yield* poll(id))._tag, "Processing")
        const done = yield* poll(id)
        const { url } = yield* Simulator
        assert.strictEqual(done._tag, "Succeeded")
        if (done._tag !== "Succeeded") return
        assert.isTrue(
          done.videoUrl.startsWith(`${url}/media/videos/5/${id.replace(/^\w+\//, "")}.mp4`)
        )
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
        assert.deepStrictEqual(yield* poll(id), {
          _tag: "Processing",
          unknownStatus: "hibernating"
        })
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
        assert.strictEqual((yield* poll(id))._tag, "Processing")
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

    it.effect("a wrong key is refused with 401, and an unknown model as one of the account", () =>
      Effect.gen(function* () {
        const wrongKey = failureOf(yield* Effect.flip(submit(order(), "bad-key")))
        assert.propertyVal(wrongKey, "effectiveStatus", 401)
        const unknownModel = yield* Effect.flip(submit(order({ upstreamModel: "missing-1" })))
        assert.propertyVal(failureOf(unknownModel), "effectiveStatus", 403)
      })
    )
  })
}
