/**
 * Deletes uploaded files with their bytes: expired files, deleted files, and incomplete uploads.
 */
import { Effect, Layer } from "effect"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type ClaimedFile, Files } from "../../services/files/Files.ts"
import { Bucket, BucketFault, keyPrefixOf } from "../../services/results/ArchiveBucket.ts"

/** The number of files that are deleted in one run, one after the other. */
const MAX_REMOVALS = 50

export const layerFileRemover = Layer.effectDiscard(
  Effect.gen(function* () {
    const bucket = yield* Bucket
    const files = yield* Files
    const { pollerSeconds } = yield* Settings

    const deleteBytes = ({ organizationId, id, isInBucket }: ClaimedFile) => {
      if (!isInBucket) return Effect.void
      return bucket === null
        ? Effect.fail(new BucketFault({ message: "the bucket of the file is not configured" }))
        : bucket.removeAll(keyPrefixOf(organizationId, id))
    }

    const removeDueFiles = Effect.gen(function* () {
      for (const claimed of yield* files.claimRemovals(MAX_REMOVALS)) {
        // A file that could not be deleted is claimed again when this claim expires.
        yield* deleteBytes(claimed).pipe(
          Effect.andThen(files.completeRemoval(claimed)),
          Effect.catch(({ message }) =>
            Effect.logWarning("files: deleting a file failed").pipe(
              Effect.annotateLogs({ file_id: claimed.id, cause: message })
            )
          )
        )
      }
    })
    yield* startJob({
      name: "file removal",
      interval: `${pollerSeconds} seconds`,
      run: removeDueFiles,
      onFailure: (cause) => Effect.logWarning("files: claiming files to delete failed", cause)
    })
  })
)
