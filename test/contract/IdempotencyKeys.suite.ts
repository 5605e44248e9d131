/** What stores must know of requests with an idempotency key. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { abandonedRequestError } from "../../src/domain/VendorOutcome.ts"
import { IdempotencyKeys, type StoredAnswer } from "../../src/services/IdempotencyKeys.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { jobId, organization, type Stores, usageOf } from "../support/ledger.ts"
import { upstream } from "../support/tasks.ts"

const PATH = "/v1/images/generations"

const keyFor = (text: string, body: unknown = { prompt: text }) =>
  Effect.flatMap(IdempotencyKeys, (idempotencyKeys) => idempotencyKeys.keyOf(text, PATH, body))

export const repeatsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("a fingerprint does not depend on the order of fields, but on path and body", () =>
    Effect.gen(function* () {
      const idempotencyKeys = yield* IdempotencyKeys
      const print = (path: string, body: unknown) =>
        Effect.map(idempotencyKeys.keyOf("k", path, body), ({ fingerprint }) => fingerprint)
      const first = yield* print(PATH, { a: 1, b: { c: 2, d: 3 } })
      assert.strictEqual(yield* print(PATH, { b: { d: 3, c: 2 }, a: 1 }), first)
      assert.notStrictEqual(yield* print("/v1/other", { a: 1, b: { c: 2, d: 3 } }), first)
      assert.notStrictEqual(yield* print(PATH, { a: 1, b: { c: 2, d: 4 } }), first)
    })
  )

  it.effect("a key is taken with the hold, and by one hold alone", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold } = yield* organization(100n)
      const other = yield* organization(100n)
      const key = yield* keyFor("k")
      assert.isNull(yield* idempotencyKeys.recall(organizationId, key))
      const request = hold(10n, { key })
      yield* ledger.hold(request)
      yield* ledger.hold(request)
      const refused = yield* Effect.flip(ledger.hold(hold(10n, { key })))
      assert.strictEqual(refused._tag, "KeyAlreadyUsed")
      assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 10n)
      const running = yield* Effect.flip(idempotencyKeys.recall(organizationId, key))
      assert.deepInclude(running, { _tag: "idempotency_conflict", retryAfterSeconds: 1 })
      const mismatch = yield* keyFor("k", { prompt: "another" })
      const told = yield* Effect.flip(idempotencyKeys.recall(organizationId, mismatch))
      assert.strictEqual(told._tag, "idempotency_mismatch")
      assert.isNull(yield* idempotencyKeys.recall(other.organizationId, key))
      yield* ledger.hold(other.hold(10n, { key }))
    })
  )

  it.effect("a repeat is answered what the first request was, images or refusal", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold, close } = yield* organization(100n)
      const result = { created: 1, data: [{ url: "http://files.test/1.png" }] }
      const made = { _tag: "Images", result } as const
      const refused: StoredAnswer = { _tag: "Refused", error: abandonedRequestError() }
      const [images, refusal] = [yield* keyFor("images"), yield* keyFor("refusal")]
      const [paid, returned] = [hold(10n, { key: images }), hold(10n, { key: refusal })]
      yield* ledger.hold(paid)
      yield* ledger.hold(returned)
      const charge = { chargeNano: 10n, usage: usageOf(10n) }
      yield* ledger.capture({ ...close(paid.id), ...charge, answer: made })
      const back = { orphan: null, forgetKey: false, answer: refused }
      yield* ledger.release({ ...close(returned.id), ...back })
      assert.deepStrictEqual(yield* idempotencyKeys.recall(organizationId, images), made)
      assert.deepStrictEqual(yield* idempotencyKeys.recall(organizationId, refusal), refused)
    })
  )

  it.effect("a close that comes second changes no answer and frees no key", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold, close } = yield* organization(100n)
      const refused: StoredAnswer = { _tag: "Refused", error: abandonedRequestError() }
      const key = yield* keyFor("k")
      const request = hold(10n, { key })
      yield* ledger.hold(request)
      const back = { ...close(request.id), orphan: null }
      yield* ledger.release({ ...back, forgetKey: false, answer: refused })
      const result = { created: 1, data: [{ url: "http://files.test/1.png" }] }
      const late = [
        ledger.capture({
          ...close(request.id),
          chargeNano: 10n,
          usage: usageOf(10n),
          answer: { _tag: "Images", result }
        }),
        ledger.release({ ...back, forgetKey: true })
      ]
      for (const second of late) {
        assert.isFalse((yield* second).won)
        assert.deepStrictEqual(yield* idempotencyKeys.recall(organizationId, key), refused)
      }
    })
  )

  it.effect("images in base64 are remembered beside the store", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold, close } = yield* organization(100n)
      const key = yield* keyFor("base64")
      const request = hold(10n, { key })
      yield* ledger.hold(request)
      const charge = { chargeNano: 10n, usage: usageOf(10n) }
      const answer: StoredAnswer = { _tag: "Images", result: null }
      yield* ledger.capture({ ...close(request.id), ...charge, answer })
      const gone = yield* Effect.flip(idempotencyKeys.recall(organizationId, key))
      assert.deepInclude(gone, { _tag: "idempotency_conflict", retryAfterSeconds: null })
      const result = { created: 1, data: [{ b64_json: "AAAA" }] }
      yield* idempotencyKeys.remember(organizationId, key, result)
      assert.deepStrictEqual(yield* idempotencyKeys.recall(organizationId, key), {
        _tag: "Images",
        result
      })
    })
  )

  it.effect("what is remembered for another request of the key is no answer to this one", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold, close } = yield* organization(100n)
      const earlier = yield* keyFor("reused", { prompt: "earlier" })
      const key = yield* keyFor("reused", { prompt: "later" })
      const result = { created: 1, data: [{ b64_json: "AAAA" }] }
      yield* idempotencyKeys.remember(organizationId, earlier, result)
      const request = hold(10n, { key })
      yield* ledger.hold(request)
      const charge = { chargeNano: 10n, usage: usageOf(10n) }
      const answer: StoredAnswer = { _tag: "Images", result: null }
      yield* ledger.capture({ ...close(request.id), ...charge, answer })
      const told = yield* Effect.flip(idempotencyKeys.recall(organizationId, key))
      assert.deepInclude(told, { _tag: "idempotency_conflict", retryAfterSeconds: null })
    })
  )

  it.effect("a key orders again when nothing came of its request", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold, close } = yield* organization(100n)
      const key = yield* keyFor("again")
      const request = hold(10n, { key })
      yield* ledger.hold(request)
      yield* ledger.release({ ...close(request.id), orphan: null, forgetKey: true })
      assert.isNull(yield* idempotencyKeys.recall(organizationId, key))
      yield* ledger.hold(hold(10n, { key }))
    })
  )

  it.effect("a repeat of an accepted video is answered its task, whatever became of it", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold, close } = yield* organization(100n)
      const key = yield* keyFor("video")
      const task = {
        listedProtocol: "vp_d",
        summary: {},
        submitSeconds: 60
      }
      const request = hold(10n, { id: jobId("vt"), task, key })
      yield* ledger.hold(request)
      const running = yield* Effect.flip(idempotencyKeys.recall(organizationId, key))
      assert.strictEqual(running._tag, "idempotency_conflict")
      yield* (yield* TaskRepo).accept(organizationId, request.id, upstream("up"), 3600)
      const accepted = { _tag: "Video", id: request.id } as const
      assert.deepStrictEqual(yield* idempotencyKeys.recall(organizationId, key), accepted)
      yield* ledger.release({
        ...close(request.id),
        task: { from: "processing", state: "failed", errorCode: "x", errorMessage: "x" },
        orphan: null,
        forgetKey: false
      })
      assert.deepStrictEqual(yield* idempotencyKeys.recall(organizationId, key), accepted)
    })
  )
}
