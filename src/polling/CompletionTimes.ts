/**
 * The usual times in which videos are completed, by model, length and resolution. The delay until a
 * client's next poll is calculated from the usual time. Each gateway learns these times from the
 * tasks that it settles, and at startup from the tasks in the database.
 */
import { Context, Effect, Layer } from "effect"
import type { VideoKind } from "../domain/video/VideoQuote.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import { TaskRepo } from "../services/TaskRepo.ts"

export class UsualTimes extends Context.Service<
  UsualTimes,
  {
    /** Records the completion of a task of this kind, `tookSeconds` after the order. */
    record(kind: VideoKind, tookSeconds: number): Effect.Effect<void>
    /** The median of the kind's latest completion times; null while none is known. */
    usualSeconds(kind: VideoKind): number | null
  }
>()("gateway/polling/UsualTimes") {}

/** The number of latest completions of a kind over which the median is taken. */
const LATEST = 21
/** The maximum number of kinds in memory; the least recently used kind is dropped (LRU). */
const MAX_KINDS = 1000
/** The number of newest tasks, finished or not, that are read from the database at startup. */
const SEEDED_TASKS = 5000

const keyOf = ({ model, seconds, resolution }: VideoKind): string =>
  JSON.stringify([model, seconds, resolution])

const median = (values: ReadonlyArray<number>): number | null =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? null

export const makeUsualTimes = (maxKinds = MAX_KINDS): UsualTimes["Service"] => {
  const times = makeBoundedMap<ReadonlyArray<number>>(maxKinds)
  return UsualTimes.of({
    record: (kind, tookSeconds) =>
      Effect.sync(() => {
        const key = keyOf(kind)
        times.set(key, [...(times.get(key) ?? []), tookSeconds].slice(-LATEST))
      }),
    usualSeconds: (kind) => median(times.peek(keyOf(kind)) ?? [])
  })
}

/**
 * The startup does not fail when completed tasks cannot be read, as usual times only improve
 * answers.
 */
export const layerUsualTimes = Layer.effect(
  UsualTimes,
  Effect.gen(function* () {
    const tasks = yield* TaskRepo
    const usual = makeUsualTimes()
    yield* tasks.recentCompletions(SEEDED_TASKS).pipe(
      Effect.flatMap((completions) =>
        Effect.forEach(completions, ({ kind, tookSeconds }) => usual.record(kind, tookSeconds), {
          discard: true
        })
      ),
      Effect.catchCause((cause) =>
        Effect.logWarning("completion times: reading recent tasks failed", cause)
      )
    )
    return usual
  })
)
