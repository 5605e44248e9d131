import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { VideoKind } from "../../src/domain/video/VideoQuote.ts"
import { layerUsualTimes, makeUsualTimes, UsualTimes } from "../../src/polling/CompletionTimes.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"

const kind: VideoKind = { model: "film-1", seconds: 5, resolution: "720p" }
const other: VideoKind = { ...kind, seconds: "smart" }

const noteAll = (usual: UsualTimes["Service"], of: VideoKind, times: ReadonlyArray<number>) =>
  Effect.forEach(times, (seconds) => usual.record(of, seconds), { discard: true })

describe("the usual time", () => {
  it.effect("is the median of the kind's own completions, and unknown without any", () =>
    Effect.gen(function* () {
      const usual = makeUsualTimes()
      assert.isNull(usual.usualSeconds(kind))
      yield* noteAll(usual, kind, [30, 10, 900, 20, 25])
      assert.strictEqual(usual.usualSeconds(kind), 25)
      assert.isNull(usual.usualSeconds(other))
      assert.isNull(usual.usualSeconds({ ...kind, model: "film-2" }))
      assert.isNull(usual.usualSeconds({ ...kind, resolution: "1080p" }))
    })
  )

  it.effect("follows a vendor that becomes quicker", () =>
    Effect.gen(function* () {
      const usual = makeUsualTimes()
      yield* noteAll(
        usual,
        kind,
        Array.from({ length: 500 }, () => 60)
      )
      yield* noteAll(
        usual,
        kind,
        Array.from({ length: 11 }, () => 20)
      )
      assert.strictEqual(usual.usualSeconds(kind), 20)
    })
  )

  it.effect("is forgotten for the kind that was not seen longest, when there are too many", () =>
    Effect.gen(function* () {
      const usual = makeUsualTimes(2)
      const third = { ...kind, model: "film-3" }
      yield* noteAll(usual, kind, [1])
      yield* noteAll(usual, other, [2])
      yield* noteAll(usual, kind, [1])
      yield* noteAll(usual, third, [3])
      assert.deepStrictEqual([kind, other, third].map(usual.usualSeconds), [1, null, 3])
    })
  )

  it.effect("is unknown at first when the database cannot be read, and learnt all the same", () =>
    Effect.gen(function* () {
      const usual = yield* UsualTimes
      assert.isNull(usual.usualSeconds(kind))
      yield* usual.record(kind, 7)
      assert.strictEqual(usual.usualSeconds(kind), 7)
    }).pipe(
      Effect.provide(
        layerUsualTimes.pipe(
          Layer.provide(
            Layer.mock(TaskRepo, { recentCompletions: () => Effect.die(new Error("away")) })
          )
        )
      )
    )
  )
})
