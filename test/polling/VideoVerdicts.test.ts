import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { makeUsualTimes, UsualTimes } from "../../src/polling/CompletionTimes.ts"
import { makeVideoVerdicts } from "../../src/polling/VideoVerdicts.ts"
import { type Closed, Ledger, type Release } from "../../src/services/Ledger.ts"
import { lateSuccesses, staleClaims } from "../../src/services/metrics.ts"
import type { VideoStatus } from "../../src/services/ProtocolAdapter.ts"
import { type ClaimedTask, TaskRepo } from "../../src/services/TaskRepo.ts"
import { layerWellChannels } from "../support/channelHealth.ts"

const claimed: ClaimedTask = {
  organizationId: "org_1",
  id: "vt_1",
  model: "clip-1",
  channelId: "ch-verdicts",
  protocol: "vp_d",
  listedProtocol: "vp_d",
  upstreamModel: "k-3",
  upstreamId: "901",
  accountVersion: 1,
  isMarked: false,
  keyName: "default",
  ageSeconds: 1,
  lease: 7n,
  unknownForSeconds: null,
  pastDeadline: false,
  cost: null,
  billUnitPriceNano: null,
  quote: {
    kind: "second_video",
    resolution: "720p",
    outputSeconds: 5,
    nanoPerSecond: 1n,
    holdNano: 5n
  },
  sincePollSeconds: 1
}

const won: Closed = { won: true, state: "released", capturedNano: 0n, overageNano: 0n }

interface Written {
  readonly released: Array<Release>
  readonly ended: Array<string>
  readonly putBack: Array<{ readonly nextPollSeconds: number; readonly isKnown: boolean | null }>
}

/** What an answer has written; `closed` is the ledger's word, `current` the store's. */
const applied = Effect.fnUntraced(function* (
  task: ClaimedTask,
  status: VideoStatus | "trouble",
  world: { readonly closed?: Closed; readonly current?: boolean } = {}
) {
  const { closed = won, current = true } = world
  const written: Written = { released: [], ended: [], putBack: [] }
  const ledger = Layer.mock(Ledger, {
    capture: () => Effect.succeed(closed),
    release: (release) =>
      Effect.sync(() => {
        written.released.push(release)
        return closed
      })
  })
  const tasks = Layer.mock(TaskRepo, {
    putBack: (_task, options) =>
      Effect.sync(() => {
        written.putBack.push(options)
        return current
      })
  })
  yield* Effect.flatMap(
    makeVideoVerdicts((id) => written.ended.push(id)),
    ({ apply, postpone }) =>
      status === "trouble"
        ? postpone(task, { message: "no", retryAfterSeconds: 40 })
        : apply(task, status)
  ).pipe(
    Effect.provide([
      ledger,
      tasks,
      Layer.sync(UsualTimes, () => makeUsualTimes()),
      layerWellChannels
    ])
  )
  return written
})

const labels = { protocol: "vp_d", channel: "ch-verdicts" }
/** How far the counter moved while the effect ran. */
const counted = Effect.fnUntraced(function* <A, E, R>(
  counter: Metric.Counter<number>,
  effect: Effect.Effect<A, E, R>
) {
  const metric = Metric.withAttributes(counter, labels)
  const before = (yield* Metric.value(metric)).count
  yield* effect
  return (yield* Metric.value(metric)).count - before
})

const processing: VideoStatus = { _tag: "Processing" }
const unknown: VideoStatus = { _tag: "Unknown" }
const succeeded: VideoStatus = {
  _tag: "Succeeded",
  videoUrl: "https://files.test/o.mp4",
  usage: { completionTokens: null, outputSeconds: null }
}

describe("what an answer does to its task", () => {
  it.effect.each([
    ["past its deadline, still processing", { pastDeadline: true }, processing],
    ["past its deadline, not answered for", { pastDeadline: true }, "trouble"],
    ["unknown for too long", { unknownForSeconds: 600 }, unknown]
  ] as const)(
    "%s: the end names the claim it was decided under, and the operator hears",
    ([, state, answer]) =>
      Effect.gen(function* () {
        const { released, putBack } = yield* applied({ ...claimed, ...state }, answer)
        assert.deepStrictEqual(putBack, [])
        assert.lengthOf(released, 1)
        assert.deepInclude(released[0]?.task, { state: "failed", lease: 7n })
        assert.strictEqual(released[0]?.orphan?.upstreamId, "901")
      })
  )

  it.effect(
    "the vendor's own verdict counts, also when another gateway holds the task by then",
    () =>
      Effect.gen(function* () {
        const status: VideoStatus = { _tag: "Failed", code: "bad", message: "no" }
        const { released } = yield* applied({ ...claimed, pastDeadline: true }, status)
        assert.deepStrictEqual(released, [
          {
            organizationId: "org_1",
            holdId: "vt_1",
            by: "poll",
            task: {
              from: "processing",
              state: "failed",
              errorCode: "bad",
              errorMessage: "no",
              lease: null
            },
            orphan: null,
            answer: null,
            forgetKey: false
          }
        ])
      })
  )

  it.effect("the end of a task is told once its hold is closed, also by another gateway", () =>
    Effect.gen(function* () {
      const lost = { ...won, won: false }
      const told = (status: VideoStatus, world: object = {}) =>
        Effect.map(applied(claimed, status, world), ({ ended }) => ended)
      const failed: VideoStatus = { _tag: "Failed", code: "bad", message: "no" }
      assert.deepStrictEqual(yield* told(succeeded), ["vt_1"])
      assert.deepStrictEqual(yield* told(failed, { closed: lost }), ["vt_1"])
      assert.deepStrictEqual(yield* told(failed, { closed: { ...lost, state: "open" } }), [])
      assert.deepStrictEqual(yield* told(processing), [])
    })
  )

  it.effect("a task still in the works is asked for again, after the vendor's Retry-After", () =>
    Effect.gen(function* () {
      const [put] = (yield* applied(claimed, processing)).putBack
      assert.isTrue(put?.isKnown)
      assert.isAtLeast(put?.nextPollSeconds ?? 0, 2)
      assert.isAtMost(put?.nextPollSeconds ?? 0, 2.5)
      const later = (yield* applied(claimed, "trouble")).putBack
      assert.deepStrictEqual(later, [{ nextPollSeconds: 40, isKnown: null }])
    })
  )

  it.effect("a success after the refund is counted, and so is an answer to a stale claim", () =>
    Effect.gen(function* () {
      const lost = { ...won, won: false }
      const late = (world: object) => counted(lateSuccesses, applied(claimed, succeeded, world))
      assert.strictEqual(yield* late({ closed: lost }), 1)
      assert.strictEqual(yield* late({ closed: { ...lost, state: "captured" } }), 0)
      assert.strictEqual(yield* late({ closed: { ...won, state: "captured" } }), 0)

      const stale = (task: ClaimedTask, world: object) =>
        counted(staleClaims, applied(task, processing, world))
      assert.strictEqual(yield* stale(claimed, { current: false }), 1)
      assert.strictEqual(yield* stale(claimed, { current: true }), 0)
      assert.strictEqual(yield* stale({ ...claimed, pastDeadline: true }, { closed: lost }), 1)
    })
  )
})
