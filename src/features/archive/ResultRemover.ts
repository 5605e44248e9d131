/**
 * Deletes a task's files from the archive after the task was deleted or its retention has ended.
 */
import { Effect, Layer } from "effect"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Bucket, keyPrefixOf } from "../../services/results/ArchiveBucket.ts"
import { Archives } from "../../services/results/Archives.ts"

/** The number of tasks whose files are deleted in one run, one after the other. */
const MAX_REMOVALS = 50

export const layerResultRemover = Layer.effectDiscard(
  Effect.gen(function* () {
    const bucket = yield* Bucket
    if (bucket === null) return
    const archives = yield* Archives
    const { archiveDays, pollerSeconds } = yield* Settings

    const removeDueFiles = Effect.gen(function* () {
      if (archiveDays > 0) yield* archives.expire(archiveDays, MAX_REMOVALS)
      for (const removal of yield* archives.claimRemovals(MAX_REMOVALS)) {
        const { organizationId, taskId } = removal
        // Files that could not be deleted are claimed again when this claim expires.
        yield* bucket.removeAll(keyPrefixOf(organizationId, taskId)).pipe(
          Effect.andThen(archives.completeRemoval(removal)),
          Effect.catch(({ message }) =>
            Effect.logWarning("archive: deleting files failed").pipe(
              Effect.annotateLogs({ order_id: taskId, cause: message })
            )
          )
        )
      }
    })
    yield* startJob({
      name: "archive removal",
      interval: `${pollerSeconds} seconds`,
      run: removeDueFiles,
      onFailure: (cause) => Effect.logWarning("archive: claiming files to delete failed", cause)
    })
  })
)
