/**
 * How long videos usually take, by model, length and resolution: what tells clients when to come
 * back. Each gateway learns from the tasks it settles, and at its start from those of the database.
 */
import { Context, Effect, Layer } from "effect"
import type { VideoKind } from "../domain/video/VideoQuote.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import { TaskRepo } from "../services/TaskRepo.ts"

export class UsualTimes extends Context.Service<
  UsualTimes,
  {
    /** A task of the kind has succeeded, this long after it was ordered. */
    note(kind: VideoKind, tookSeconds: number): Effect.Effect<void>
    /** The median of the kind's latest; null while none is known. */
    usualSeconds(kind: VideoKind): number | null
  }
>()("gateway/polling/UsualTimes") {}

/** The median is over the latest completions of a kind. */
const LATEST = 21
/** Kinds in memory; the least recently used one is dropped. */
const MAX_KINDS = 1000
/** Of the database's newest tasks, finished or not. */
const SEEDED_TASKS = 5000

const keyOf = ({ model, seconds, resolution }: VideoKind): string =>
  JSON.stringify([model, seconds, resolution])

const median = (values: ReadonlyArray<number>): number | null =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? null

export const makeUsualTimes = (maxKinds = MAX_KINDS): UsualTimes["Service"] => {
  const times = makeBoundedMap<ReadonlyArray<number>>(maxKinds)
  return UsualTimes.of({
    note: (kind, tookSeconds) =>
      Effect.sync(() => {
        const key = keyOf(kind)
        times.set(key, [...(times.get(key) ?? []), tookSeconds].slice(-LATEST))
      }),
    usualSeconds: (kind) => median(times.peek(keyOf(kind)) ?? [])
  })
}

/** A failure to read completed tasks does not stop the start, as usual times only improve answers. */
export const layerUsualTimes = Layer.effect(
  UsualTimes,
  Effect.gen(function* () {
    const tasks = yield* TaskRepo
    const usual = makeUsualTimes()
    yield* tasks.recentCompletions(SEEDED_TASKS).pipe(
      Effect.flatMap((completions) =>
        Effect.forEach(completions, ({ kind, tookSeconds }) => usual.note(kind, tookSeconds), {
          discard: true
        })
      ),
      Effect.catchCause((cause) =>
        Effect.logWarning("usual times: reading completed tasks failed", cause)
      )
    )
    return usual
  })
)
