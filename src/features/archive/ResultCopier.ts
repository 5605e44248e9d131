/**
 * Copies the results of tasks into the archive before their vendors delete them. Any number of
 * gateways copy results, but only one gateway at a time copies the same result. A failed copy does
 * not change its task.
 */
import { Clock, Effect, FiberSet, Layer, Metric, Result } from "effect"
import { makeOpenVendorFile } from "../../channels/vendorFiles.ts"
import { servedType } from "../../domain/files/mediaTypes.ts"
import { taskKindOf } from "../../domain/orderIds.ts"
import { expiryOf } from "../../domain/resultAddresses.ts"
import { imageAddresses } from "../../domain/taskAnswers.ts"
import { stillsOf } from "../../domain/video/videoStills.ts"
import { bytesWithin, headerOf, OutgoingFault } from "../../egress/OutgoingWeb.ts"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { withSpan } from "../../runtime/spans.ts"
import { archivedBytes, archiveTries, waitingArchives } from "../../services/metrics.ts"
import {
  type ArchivedFile,
  Bucket,
  markMetadata,
  objectKeyOf
} from "../../services/results/ArchiveBucket.ts"
import {
  Archives,
  type ClaimedResult,
  COPY_LEASE_SECONDS,
  type CopyEnd
} from "../../services/results/Archives.ts"

/** The number of concurrent copies of this gateway; each copy has two parts of a file in memory. */
const MAX_COPIES = 2
const RENEWAL_INTERVAL = `${COPY_LEASE_SECONDS / 3} seconds` as const
/** The maximum time without any bytes from the vendor in the middle of a file. */
const IDLE_SECONDS = 30
const MIN_DELAY_SECONDS = 5
const MAX_DELAY_SECONDS = 600
/** The assumed lifetime of a vendor's address that has no expiry in its signature. */
const DEFAULT_LIFETIME_SECONDS = 24 * 3600

/** The number of tries after which a video is stored without its stills. */
const STILL_TRIES = 3

const addressesOf = ({ taskId, task }: ClaimedResult): ReadonlyArray<string | null> =>
  taskKindOf(taskId) === "video" ? [task.videoUrl] : imageAddresses(task)

/**
 * Whether the vendor's addresses have expired: by the expiry in their signatures, or else by their
 * age.
 */
const hasExpired = (result: ClaimedResult, nowMillis: number): boolean => {
  const ends = addressesOf(result).flatMap((address) =>
    address === null ? [] : (expiryOf(address)?.getTime() ?? [])
  )
  return ends.length > 0
    ? Math.min(...ends) <= nowMillis
    : result.ageSeconds >= DEFAULT_LIFETIME_SECONDS
}

export const layerResultCopier = Layer.effectDiscard(
  Effect.gen(function* () {
    const bucket = yield* Bucket
    if (bucket === null) return
    const archives = yield* Archives
    const openVendorFile = yield* makeOpenVendorFile
    const { maxContentBytes, pollerSeconds } = yield* Settings
    const running = new Set<ClaimedResult>()
    const fibers = yield* FiberSet.make()

    const copyFile = Effect.fnUntraced(function* (
      key: string,
      url: string,
      task: ClaimedResult["task"]
    ) {
      const answer = yield* openVendorFile(task, {
        method: "GET",
        url,
        headers: {},
        idleSeconds: IDLE_SECONDS
      })
      const { status } = answer
      if (status !== 200) {
        return yield* new OutgoingFault({
          message: `the vendor answered ${status}`,
          isRefused: false
        })
      }
      // A body that is shorter than its content-length fails here.
      const contentType = servedType(headerOf(answer, "content-type"))
      const bytes = bytesWithin(maxContentBytes, answer)
      const upload = yield* bucket.put(key, contentType, bytes, markMetadata(task.isMarked))
      return { ...upload, contentType } satisfies ArchivedFile
    }, Effect.scoped)

    const copyNumber = (result: ClaimedResult, address: string | null, n: number) =>
      address === null
        ? new OutgoingFault({ message: `file ${n} has no address`, isRefused: false })
        : copyFile(objectKeyOf(result.organizationId, result.taskId, n), address, result.task)

    /**
     * Copies the stills of a video, up to the first one that cannot be loaded. From the last try on,
     * the video is stored without the rest, which are then served from the vendor.
     */
    const copyStills = Effect.fnUntraced(function* (result: ClaimedResult) {
      const files: Array<ArchivedFile> = []
      for (const { url, n } of stillsOf(result.task.stills)) {
        const copyResult = yield* Effect.result(copyNumber(result, url, n))
        if (Result.isSuccess(copyResult)) {
          files.push(copyResult.success)
        } else if (result.tries < STILL_TRIES) {
          return yield* copyResult.failure
        } else {
          break
        }
      }
      return files
    })

    const copyAll = Effect.fnUntraced(function* (result: ClaimedResult) {
      const files = yield* Effect.forEach(addressesOf(result), (address, n) =>
        copyNumber(result, address, n)
      )
      return [...files, ...(yield* copyStills(result))]
    })

    const endOf = (result: ClaimedResult, reason: string, nowMillis: number): CopyEnd =>
      hasExpired(result, nowMillis)
        ? { _tag: "Failed", reason }
        : {
            _tag: "Again",
            reason,
            afterSeconds: Math.min(MAX_DELAY_SECONDS, MIN_DELAY_SECONDS * 2 ** result.tries)
          }

    /** Renews the claim until another gateway has taken it over; then the copy is interrupted. */
    const renewClaim = (result: ClaimedResult) =>
      archives
        .renew(result)
        .pipe(
          Effect.delay(RENEWAL_INTERVAL),
          Effect.repeat({ while: (isClaimed) => isClaimed }),
          Effect.andThen(Effect.interrupt)
        )

    const copy = Effect.fnUntraced(
      function* (result: ClaimedResult) {
        const end = yield* Effect.raceFirst(copyAll(result), renewClaim(result)).pipe(
          Effect.matchEffect({
            onSuccess: (files) => Effect.succeed<CopyEnd>({ _tag: "Kept", files }),
            onFailure: ({ message }) =>
              Effect.map(Clock.currentTimeMillis, (now) => endOf(result, message, now))
          })
        )
        yield* Metric.update(
          Metric.withAttributes(archiveTries, { end: end._tag.toLowerCase() }),
          1
        )
        if (end._tag === "Kept") {
          const bytes = end.files.reduce((sum, file) => sum + file.bytes, 0)
          yield* Metric.update(archivedBytes, bytes)
        } else {
          yield* Effect.logWarning("archive: copying a result failed").pipe(
            Effect.annotateLogs({ order_id: result.taskId, cause: end.reason })
          )
        }
        yield* archives.recordCopy(result, end)
      },
      (attempt, { taskId }) =>
        Effect.catchCause(attempt, (cause) =>
          Effect.logWarning("archive: copy attempt stopped by an unexpected error", cause).pipe(
            Effect.annotateLogs({ order_id: taskId })
          )
        )
    )

    const startDueCopies = Effect.gen(function* () {
      const limit = MAX_COPIES - running.size
      if (limit <= 0) return
      for (const result of yield* archives.claimDue(limit)) {
        running.add(result)
        yield* FiberSet.run(
          fibers,
          Effect.ensuring(
            copy(result).pipe(
              withSpan("archive result", {
                attributes: () => ({ "media.task.id": result.taskId }),
                orders: () => [result.taskId]
              })
            ),
            Effect.sync(() => running.delete(result))
          )
        )
      }
    })
    yield* startJob({
      name: "archive copies",
      interval: `${pollerSeconds} seconds`,
      run: startDueCopies,
      onFailure: (cause) => Effect.logWarning("archive: claiming results to copy failed", cause),
      metric: waitingArchives
    })
  })
)
