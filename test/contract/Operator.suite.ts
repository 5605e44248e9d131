/** What stores must keep for the operator: orphans, the course of an order, calls, audits. */

import { assert, type Vitest } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { type AnsweredCall, CallLog, type VendorCall } from "../../src/services/CallLog.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { OperationsStore } from "../../src/services/Operations.ts"
import { type OrphanFilter, Orphans } from "../../src/services/Orphans.ts"
import { AdminAudit, type AuditFilter } from "../../src/services/operators/AdminAudit.ts"
import { TaskHistory, transitionsOf } from "../../src/services/TaskHistory.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { anyWrite, openOrphans } from "../support/filters.ts"
import { jobId, organization, type Stores, usageOf } from "../support/ledger.ts"
import { upstream } from "../support/tasks.ts"

const imageQuote = { kind: "image", images: 10, nanoPerImage: "1", holdNano: "10" }
const videoQuote = {
  kind: "second_video",
  resolution: "720p",
  outputSeconds: 5,
  nanoPerSecond: "2",
  holdNano: "10"
}
const task = {
  listedProtocol: "vp_d",
  summary: { n: 1 },
  submitSeconds: 60
}

const callOf = (outcome: string, second: number, answer: unknown = null): VendorCall => ({
  method: "GET",
  url: "http://vendor.test/t",
  status: 200,
  failure: null,
  startedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
  durationMillis: 3,
  request: null,
  answer,
  outcome
})

/** Releases an image hold that its vendor may have made; answers its id. */
const seenAnswer = { status: 200, bytes: 7, sha256: "ab".repeat(32), requestId: "vendor-1" }

const orphaned = Effect.fnUntraced(function* (reason: string) {
  const ledger = yield* Ledger
  const { hold, close } = yield* organization(100n)
  const request = hold(10n, { id: jobId("im") })
  yield* ledger.hold(request)
  const orphan = { upstreamId: "up", reason, answer: seenAnswer }
  yield* ledger.release({ ...close(request.id), orphan, forgetKey: false })
  return request.id
})

export const operatorSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("orphans are listed newest first until an operator has seen to them", () =>
    Effect.gen(function* () {
      const orphans = yield* Orphans
      const ids = [yield* orphaned("one"), yield* orphaned("two"), yield* orphaned("three")]
      const newest = ids.toReversed()
      const page = yield* orphans.list(openOrphans, { after: null, limit: 2 })
      assert.deepStrictEqual(
        page.data.map(({ id, reason, answer }) => [id, reason, answer]),
        [
          [newest[0] ?? "", "three", seenAnswer],
          [newest[1] ?? "", "two", seenAnswer]
        ]
      )
      assert.isTrue(page.hasMore)
      const first = yield* orphans.resolve(newest[1] ?? "", "asked the vendor")
      const resolvedAt = first.resolvedAt?.getTime() ?? 0
      yield* Effect.repeat(Clock.currentTimeMillis, { until: (now) => now > resolvedAt + 1 })
      const again = yield* orphans.resolve(newest[1] ?? "", "it was billed")
      assert.isNotNull(first.resolvedAt)
      assert.deepInclude(again, { resolvedAt: first.resolvedAt, note: "it was billed" })
      // A cursor may have been seen to since it was given out.
      const rest = yield* orphans.list(openOrphans, { after: newest[1] ?? null, limit: 1 })
      assert.strictEqual(rest.data[0]?.id, newest[2])
      const seen = yield* orphans.list(
        { ...openOrphans, isResolved: true },
        { after: null, limit: 1 }
      )
      assert.deepInclude(seen.data[0], {
        id: newest[1] ?? "",
        heldNano: 10n,
        upstreamId: "up",
        job: { channelId: "ch", protocol: "ip_a", upstreamModel: "u" }
      })
      const unknown = jobId("im")
      assert.strictEqual((yield* Effect.flip(orphans.resolve(unknown, "x")))._tag, "not_found")
      const error = yield* Effect.flip(orphans.list(openOrphans, { after: unknown, limit: 1 }))
      assert.strictEqual(error.param, "after")
    })
  )

  it.effect("orphans are listed by organisation, channel and reason", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const orphans = yield* Orphans
      const { organizationId, hold, close } = yield* organization(100n)
      const left = Effect.fnUntraced(function* (channelId: string, reason: string) {
        const job = { channelId, protocol: "ip_a", upstreamModel: "u" }
        const request = hold(10n, { job })
        yield* ledger.hold(request)
        const orphan = { upstreamId: null, reason }
        yield* ledger.release({ ...close(request.id), orphan, forgetKey: false })
        return request.id
      })
      const [one, two] = [yield* left("far", "lost"), yield* left("near", "late and lost")]
      const listed = (filter: Partial<OrphanFilter>) =>
        Effect.map(
          orphans.list({ ...openOrphans, ...filter }, { after: null, limit: 9 }),
          ({ data }) => data.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* listed({ organizationId }), [two, one])
      assert.deepStrictEqual(yield* listed({ channelId: "far" }), [one])
      assert.deepStrictEqual(yield* listed({ reason: "late and lost" }), [two])
      assert.deepStrictEqual(yield* listed({ organizationId, channelId: "far" }), [one])
      assert.deepStrictEqual(yield* listed({ reason: "late and lost", channelId: "far" }), [])
      assert.deepStrictEqual(yield* listed({ organizationId, isResolved: true }), [])
    })
  )

  it.effect("a task the vendor accepted too late is kept with its id at the vendor", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const tasks = yield* TaskRepo
      const history = yield* TaskHistory
      const { organizationId, hold, close } = yield* organization(100n)
      const request = hold(10n, { id: jobId("vt"), task, quote: videoQuote })
      yield* ledger.hold(request)
      yield* ledger.release({
        ...close(request.id),
        task: { from: "submitting", state: "rejected", errorCode: "x", errorMessage: "x" },
        orphan: { upstreamId: null, reason: "gateway_stopped" },
        forgetKey: false
      })
      assert.isFalse(yield* tasks.accept(organizationId, request.id, upstream("up-1"), 0))
      for (const upstreamId of ["up-1", "up-2"]) {
        yield* tasks.recordLateAcceptance(organizationId, request.id, upstreamId)
      }
      const { orphan } = yield* history.find(request.id)
      assert.deepInclude(orphan, { reason: "gateway_stopped", upstreamId: "up-1" })
    })
  )

  it.effect("the course of a video order is told from its hold to its charge", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const tasks = yield* TaskRepo
      const history = yield* TaskHistory
      const { organizationId, memberIds, hold, close } = yield* organization(100n)
      const key = { key: "k", fingerprint: "f" }
      const request = hold(10n, { id: jobId("vt"), task, quote: videoQuote, key })
      yield* ledger.hold(request)
      yield* tasks.accept(organizationId, request.id, upstream("up"), 3600)
      yield* ledger.capture({
        ...close(request.id),
        task: {
          from: "processing",
          state: "succeeded",
          videoUrl: "http://files.test/1.mp4",
          completionTokens: 7n
        },
        chargeNano: 12n,
        usage: usageOf(12n)
      })
      const told = yield* history.find(request.id)
      const memberId = memberIds[0] ?? ""
      assert.deepInclude(told, { organizationId, memberId, totalCalls: 0, call: null })
      assert.deepInclude(told.hold, {
        amountNano: 10n,
        state: "captured",
        capturedNano: 12n,
        overageNano: 2n,
        closedBy: "sweep"
      })
      assert.deepInclude(told.task, {
        state: "succeeded",
        summary: { n: 1 },
        upstreamId: "up",
        completionTokens: 7n,
        nextPollAt: null
      })
      assert.deepStrictEqual(
        transitionsOf(told).map(({ state, by }) => `${state} ${by}`),
        ["submitting create", "processing create", "succeeded sweep"]
      )
      assert.deepStrictEqual(told.capture?.at, told.hold.closedAt)
      assert.deepInclude(told.usage, { chargeNano: 12n, id: `us_${request.id}` })
      assert.isTrue(told.hasIdempotencyKey)
      assert.deepInclude(yield* tasks.find(organizationId, request.id), {
        finished: true,
        videoUrl: "http://files.test/1.mp4"
      })
      for (const id of [jobId("vt"), "vt_x"]) {
        assert.strictEqual((yield* Effect.flip(history.find(id)))._tag, "task_not_found")
      }
    })
  )

  it.effect("an order that is charged tells of the call that made it, and only that one", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const history = yield* TaskHistory
      const { hold, close } = yield* organization(100n)
      const call: AnsweredCall = {
        startedAt: new Date(1_700_000_000_000),
        durationMillis: 1234,
        status: 200,
        bytes: 5,
        requestId: null
      }
      const request = hold(10n, { id: jobId("im"), quote: imageQuote })
      yield* ledger.hold(request)
      assert.isNull((yield* history.find(request.id)).call)
      const charge = { ...close(request.id), chargeNano: 10n, usage: usageOf(10n) }
      yield* ledger.capture({ ...charge, call })
      yield* ledger.capture({ ...charge, call: { ...call, status: 201 } })
      assert.deepStrictEqual((yield* history.find(request.id)).call, call)
    })
  )

  it.effect("calls to vendors are kept in their order, polls with the same end as one", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const log = yield* CallLog
      const { organizationId, hold } = yield* organization(100n)
      const request = hold(10n, { id: jobId("im"), quote: imageQuote })
      yield* ledger.hold(request)
      const record = (purpose: "submit" | "poll", call: VendorCall) =>
        log.record(
          { organizationId, jobId: request.id, channelId: "ch", purpose, upstreamId: null },
          { answeredCall: null, weigh: () => 1, describe: () => call }
        )
      yield* record("submit", callOf("200 running", 1))
      yield* record("poll", callOf("200 running", 2, { n: 1 }))
      yield* record("poll", callOf("200 running", 3, { n: 2 }))
      yield* record("poll", callOf("500", 4))
      yield* record("poll", callOf("200 running", 5, { n: 3 }))
      const { calls, totalCalls } = yield* (yield* TaskHistory).find(request.id)
      assert.deepStrictEqual(
        calls.map(({ purpose, repeats, answer, startedAt, lastAt }) => [
          purpose,
          repeats,
          answer,
          (lastAt.getTime() - startedAt.getTime()) / 1000
        ]),
        [
          ["submit", 0, null, 0],
          ["poll", 1, { n: 2 }, 1],
          ["poll", 0, null, 0],
          ["poll", 0, { n: 3 }, 0]
        ]
      )
      assert.strictEqual(totalCalls, 4)
    })
  )

  it.effect("administrative writes are listed newest first", () =>
    Effect.gen(function* () {
      const audit = yield* AdminAudit
      const actions = ["createOrganization", "createMember", "createKey"]
      for (const action of actions) {
        const fields = { name: action }
        yield* audit.record({
          action,
          subjectId: null,
          fields,
          requestId: "req_1",
          status: 200,
          operatorId: null,
          operatorName: "somebody"
        })
      }
      const page = yield* audit.list(anyWrite, { after: null, limit: 2 })
      const rest = yield* audit.list(anyWrite, { after: page.data.at(-1)?.id ?? null, limit: 1 })
      assert.deepStrictEqual(
        [...page.data, ...rest.data].map(({ action, fields }) => [action, fields]),
        actions.toReversed().map((action) => [action, { name: action }])
      )
      const error = yield* Effect.flip(audit.list(anyWrite, { after: "au_nothing", limit: 1 }))
      assert.strictEqual(error.param, "after")
    })
  )

  it.effect("administrative writes are listed by who, what, to what and when", () =>
    Effect.gen(function* () {
      const audit = yield* AdminAudit
      const write = (operatorId: string | null, action: string, subjectId: string | null) =>
        audit.record({
          action,
          subjectId,
          fields: null,
          requestId: "req_1",
          status: 200,
          operatorId,
          operatorName: "somebody"
        })
      yield* write("op_a", "changeKey", "key_a")
      yield* write("op_a", "changeMember", "mem_a")
      yield* write("op_b", "changeMember", "mem_a")
      const listed = (filter: Partial<AuditFilter>) =>
        Effect.map(audit.list({ ...anyWrite, ...filter }, { after: null, limit: 9 }), ({ data }) =>
          data.map(({ operatorId, action, subjectId }) => [operatorId, action, subjectId])
        )
      const [key, member, other] = [
        ["op_a", "changeKey", "key_a"],
        ["op_a", "changeMember", "mem_a"],
        ["op_b", "changeMember", "mem_a"]
      ]
      const soon = new Date(Date.now() + 3_600_000)
      assert.deepStrictEqual(yield* listed({ operatorId: "op_a" }), [member, key])
      assert.deepStrictEqual(yield* listed({ action: "changeMember" }), [other, member])
      assert.deepStrictEqual(yield* listed({ subjectId: "key_a" }), [key])
      assert.deepStrictEqual(yield* listed({ subjectId: "mem_a", operatorId: "op_a" }), [member])
      assert.deepStrictEqual(yield* listed({ operatorId: "op_b", from: new Date(0), to: soon }), [
        other
      ])
      assert.deepStrictEqual(yield* listed({ operatorId: "op_b", from: soon }), [])
      assert.deepStrictEqual(yield* listed({ operatorId: "op_b", to: new Date(0) }), [])
    })
  )

  it.effect("one gateway at a time audits the books, and all know what it found", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const store = yield* OperationsStore
      const { organizationId } = yield* organization(100n)
      const asked = Array.from({ length: 5 }, () => store.takeAudit(3600))
      const taken = yield* Effect.all(asked, { concurrency: "unbounded" })
      assert.lengthOf(taken.filter(Boolean), 1)
      assert.isFalse(yield* store.takeAudit(0))
      assert.deepStrictEqual(yield* store.report, {
        schema: "ready",
        writable: true,
        audit: { auditedAt: null, ageSeconds: null, violations: 0, stopped: 0 }
      })
      yield* ledger.stopSpending(new Map([[organizationId, "I1"]]))
      yield* store.endAudit(2)
      assert.isFalse(yield* store.takeAudit(3600))
      assert.isTrue(yield* store.takeAudit(0))
      yield* store.endAudit(null)
      const { audit } = yield* store.report
      assert.isNotNull(audit?.auditedAt)
      assert.deepInclude(audit, { violations: 2, stopped: 1 })
      yield* ledger.stopSpending(new Map())
    })
  )

  it.effect("the totals count what is open and fold every pool", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const store = yield* OperationsStore
      const before = yield* store.totals
      const { organizationId, hold } = yield* organization(100n)
      const [submitting, processing] = [jobId("vt"), jobId("vt")]
      for (const id of [submitting, processing]) {
        yield* ledger.hold(hold(10n, { id, task, quote: videoQuote }))
      }
      yield* ledger.hold(hold(5n))
      // A minute is what a sweep may take.
      yield* ledger.hold(hold(1n, { ttlSeconds: -60 }))
      yield* ledger.hold(hold(1n, { ttlSeconds: -50 }))
      yield* (yield* TaskRepo).accept(organizationId, processing, upstream("up"), 3600)
      // One that an operator has seen to does not count.
      yield* orphaned("counted")
      const seen = yield* orphaned("seen")
      yield* (yield* Orphans).resolve(seen, "seen")
      const { oldestLateSeconds, ...totals } = yield* store.totals
      assert.isAtLeast(oldestLateSeconds, 60)
      assert.deepStrictEqual(totals, {
        submittingTasks: before.submittingTasks + 1,
        processingTasks: before.processingTasks + 1,
        openHolds: before.openHolds + 5,
        lateHolds: before.lateHolds + 1,
        openOrphans: before.openOrphans + 1,
        waitingWebhooks: before.waitingWebhooks,
        waitingArchives: before.waitingArchives,
        poolNano: before.poolNano + 300n,
        heldNano: before.heldNano + 27n
      })
    })
  )
}
