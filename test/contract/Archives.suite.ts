/** What every store of what is copied into the archive must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../src/services/Ledger.ts"
import { Archives } from "../../src/services/results/Archives.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { jobId, organization, type Stores, usageOf } from "../support/ledger.ts"
import { quote, upstream } from "../support/tasks.ts"

const file = { bytes: 3, sha256: "00ff", contentType: "video/mp4" }

type Own = Effect.Success<ReturnType<typeof organization>>

/** A video that runs, of an order that asked for the archive or not; answers its id. */
const running = Effect.fnUntraced(function* ({ organizationId, hold }: Own, isArchived: boolean) {
  const ledger = yield* Ledger
  const repo = yield* TaskRepo
  const id = jobId("vt")
  const task = {
    listedProtocol: "vp_d",
    summary: {},
    submitSeconds: 60,
    isArchived
  }
  yield* ledger.hold(hold(1n, { id, quote, task }))
  yield* repo.accept(organizationId, id, upstream("up"), 3600)
  return id
})

const succeeded = Effect.fnUntraced(function* (own: Own, isArchived: boolean) {
  const { organizationId } = own
  const ledger = yield* Ledger
  const id = yield* running(own, isArchived)
  yield* ledger.capture({
    organizationId,
    holdId: id,
    by: "poll",
    chargeNano: 1n,
    costNano: null,
    usage: usageOf(1n),
    task: {
      from: "processing",
      state: "succeeded",
      videoUrl: "https://vendor.test/1.mp4",
      stills: { lastFrameUrl: "https://vendor.test/1.png" },
      completionTokens: 7n
    },
    answer: null
  })
  return id
})

/** Of these tasks; what others left stays claimed. */
const claim = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const archives = yield* Archives
    const claimed = yield* archives.claimDue(1000)
    return claimed.filter(({ taskId }) => ids.includes(taskId))
  })

/** Of these tasks; what others left stays claimed. */
const removalsOf = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const archives = yield* Archives
    const claimed = yield* archives.claimRemovals(1000)
    return claimed.filter(({ taskId }) => ids.includes(taskId))
  })

export const archivesSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect(
    "what succeeds is to be copied, where its order asked for it, by one claim at a time",
    () =>
      Effect.gen(function* () {
        const archives = yield* Archives
        const own = yield* organization(100n)
        const [kept, other] = [yield* succeeded(own, true), yield* succeeded(own, false)]
        const claimed = yield* claim([kept, other])
        assert.deepStrictEqual(
          claimed.map(({ taskId, tries, task }) => [taskId, tries, task.videoUrl, task.stills]),
          [[kept, 0, "https://vendor.test/1.mp4", { lastFrameUrl: "https://vendor.test/1.png" }]]
        )
        const tasks = yield* TaskRepo
        const { stills } = yield* tasks.find(own.organizationId, other)
        assert.deepStrictEqual(stills, { lastFrameUrl: "https://vendor.test/1.png" })
        assert.strictEqual(claimed[0]?.task.completionTokens, 7n)
        assert.deepStrictEqual(yield* claim([kept]), [])
        assert.isNull(yield* archives.files(own.organizationId, kept))
      })
  )

  it.effect("an end is written by the claim it belongs to", () =>
    Effect.gen(function* () {
      const archives = yield* Archives
      const own = yield* organization(100n)
      const id = yield* succeeded(own, true)
      const [first] = yield* claim([id])
      if (first === undefined) throw new Error("nothing was claimed")
      assert.isTrue(yield* archives.renew(first))
      yield* archives.recordCopy(first, { _tag: "Again", reason: "cut", afterSeconds: 0 })
      const [second] = yield* claim([id])
      if (second === undefined) throw new Error("nothing was claimed again")
      assert.strictEqual(second.tries, 1)
      assert.isFalse(yield* archives.renew(first))
      yield* archives.recordCopy(first, { _tag: "Failed", reason: "late" })
      yield* archives.recordCopy(second, { _tag: "Kept", files: [file] })
      yield* archives.recordCopy(second, { _tag: "Failed", reason: "late" })
      assert.deepStrictEqual(yield* archives.files(own.organizationId, id), [file])
      assert.isNull(yield* archives.files("another", id))
      assert.deepStrictEqual(yield* claim([id]), [])
    })
  )

  it.effect("what failed for good is not tried again", () =>
    Effect.gen(function* () {
      const archives = yield* Archives
      const own = yield* organization(100n)
      const id = yield* succeeded(own, true)
      const [claimed] = yield* claim([id])
      if (claimed === undefined) throw new Error("nothing was claimed")
      yield* archives.recordCopy(claimed, { _tag: "Failed", reason: "gone" })
      assert.isFalse(yield* archives.renew(claimed))
      assert.deepStrictEqual(yield* claim([id]), [])
      assert.isNull(yield* archives.files(own.organizationId, id))
    })
  )

  it.effect("what is erased is removed, once its copy's claim is over", () =>
    Effect.gen(function* () {
      const archives = yield* Archives
      const repo = yield* TaskRepo
      const own = yield* organization(100n)
      const [kept, copied, other] = [
        yield* succeeded(own, true),
        yield* succeeded(own, true),
        yield* succeeded(own, true)
      ]
      const claims = new Map(
        (yield* claim([kept, copied, other])).map((claimed) => [claimed.taskId, claimed])
      )
      const claimOf = (id: string) => {
        const claimed = claims.get(id)
        if (claimed === undefined) throw new Error("it was not claimed")
        return claimed
      }
      for (const id of [kept, other]) {
        yield* archives.recordCopy(claimOf(id), { _tag: "Kept", files: [file] })
      }
      assert.isFalse(yield* repo.erase("another", kept))
      for (const id of [kept, kept, copied]) {
        assert.isTrue(yield* repo.erase(own.organizationId, id))
      }
      assert.isNull(yield* archives.files(own.organizationId, kept))
      assert.deepStrictEqual(yield* archives.files(own.organizationId, other), [file])
      assert.isFalse(yield* archives.renew(claimOf(copied)))
      yield* archives.recordCopy(claimOf(copied), { _tag: "Kept", files: [file] })
      assert.isNull(yield* archives.files(own.organizationId, copied))

      const removals = yield* removalsOf([kept, copied, other])
      assert.deepStrictEqual(
        removals.map(({ taskId }) => taskId),
        [kept]
      )
      assert.deepStrictEqual(yield* removalsOf([kept]), [])
      for (const removal of removals) {
        yield* archives.completeRemoval({ ...removal, lease: removal.lease + 1n })
        yield* archives.completeRemoval(removal)
      }
      assert.strictEqual((yield* Effect.exit(repo.find(own.organizationId, kept)))._tag, "Failure")
    })
  )

  it.effect("what runs is not erased", () =>
    Effect.gen(function* () {
      const repo = yield* TaskRepo
      const own = yield* organization(100n)
      const id = yield* running(own, true)
      assert.isFalse(yield* repo.erase(own.organizationId, id))
      assert.strictEqual((yield* repo.find(own.organizationId, id)).state, "processing")
    })
  )

  it.effect("what was kept for as many days as it is told is removed", () =>
    Effect.gen(function* () {
      const archives = yield* Archives
      const own = yield* organization(100n)
      const id = yield* succeeded(own, true)
      const [claimed] = yield* claim([id])
      if (claimed === undefined) throw new Error("nothing was claimed")
      yield* archives.recordCopy(claimed, { _tag: "Kept", files: [file] })
      yield* archives.expire(1, 1000)
      assert.deepStrictEqual(yield* archives.files(own.organizationId, id), [file])
      yield* archives.expire(0, 1000)
      assert.isNull(yield* archives.files(own.organizationId, id))
      assert.lengthOf(yield* removalsOf([id]), 1)
    })
  )
}
