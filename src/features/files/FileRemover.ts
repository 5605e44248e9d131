/**
 * Removes uploaded files with their bytes: those that have expired or were deleted, and those whose upload
 * did not come to its end.
 */
import { Effect, Layer } from "effect"
import { Settings } from "../../runtime/Settings.ts"
import { type ClaimedFile, Files } from "../../services/files/Files.ts"
import { Bucket, BucketFault, keyPrefixOf } from "../../services/results/ArchiveBucket.ts"

/** Of a round, one after the other. */
const MAX_REMOVALS = 50

export const layerFileRemover = Layer.effectDiscard(
  Effect.gen(function* () {
    const bucket = yield* Bucket
    const files = yield* Files
    const { pollerSeconds } = yield* Settings

    const bytesOf = ({ organizationId, id, isInBucket }: ClaimedFile) => {
      if (!isInBucket) return Effect.void
      return bucket === null
        ? Effect.fail(new BucketFault({ message: "it stands in a bucket that is not configured" }))
        : bucket.removeAll(keyPrefixOf(organizationId, id))
    }

    const round = Effect.gen(function* () {
      for (const claimed of yield* files.claimRemovals(MAX_REMOVALS)) {
        // What could not be removed is claimed again when this claim is over.
        yield* bytesOf(claimed).pipe(
          Effect.andThen(files.completeRemoval(claimed)),
          Effect.catch(({ message }) =>
            Effect.annotateLogs(Effect.logWarning("a file could not be removed", message), {
              file: claimed.id
            })
          )
        )
      }
    })
    yield* round.pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("files that are to be removed were not read", cause)
      ),
      Effect.andThen(Effect.sleep(`${pollerSeconds} seconds`)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
