/** Removes from the archive what its owner deleted and what was kept long enough. */
import { Effect, Layer } from "effect"
import { Settings } from "../../runtime/Settings.ts"
import { Bucket, keyPrefixOf } from "../../services/results/ArchiveBucket.ts"
import { Archives } from "../../services/results/Archives.ts"

/** Of a round, one after the other. */
const MAX_REMOVALS = 50

export const layerResultRemover = Layer.effectDiscard(
  Effect.gen(function* () {
    const bucket = yield* Bucket
    if (bucket === null) return
    const archives = yield* Archives
    const { archiveDays, pollerSeconds } = yield* Settings

    const round = Effect.gen(function* () {
      if (archiveDays > 0) yield* archives.expire(archiveDays, MAX_REMOVALS)
      for (const removal of yield* archives.claimRemovals(MAX_REMOVALS)) {
        const { organizationId, taskId } = removal
        // What could not be removed is claimed again when this claim is over.
        yield* bucket.removeAll(keyPrefixOf(organizationId, taskId)).pipe(
          Effect.andThen(archives.completeRemoval(removal)),
          Effect.catch(({ message }) =>
            Effect.annotateLogs(Effect.logWarning("files could not be removed", message), {
              task: taskId
            })
          )
        )
      }
    })
    yield* round.pipe(
      Effect.catchCause((cause) => Effect.logWarning("what is to be removed was not read", cause)),
      Effect.andThen(Effect.sleep(`${pollerSeconds} seconds`)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
