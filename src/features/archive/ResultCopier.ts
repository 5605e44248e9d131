/**
 * Copies the results of tasks into the archive, before their vendors drop them. Any number of gateways
 * do so, each result by one of them at a time; a copy that fails changes nothing of its task.
 */
import { Clock, Effect, FiberSet, Layer, Metric } from "effect"
import { servedType } from "../../domain/files/mediaTypes.ts"
import { taskKindOf } from "../../domain/orderIds.ts"
import { expiryOf } from "../../domain/resultAddresses.ts"
import { imageAddresses } from "../../domain/taskAnswers.ts"
import { bytesWithin, headerOf, OutgoingFault, OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import { Settings } from "../../runtime/Settings.ts"
import { withSpan } from "../../runtime/spans.ts"
import { archivedBytes, archiveTries } from "../../services/metrics.ts"
import {
  type ArchiveBucket,
  type ArchivedFile,
  Bucket,
  keyOf
} from "../../services/results/ArchiveBucket.ts"
import {
  Archives,
  type ClaimedResult,
  COPY_LEASE_SECONDS,
  type CopyEnd
} from "../../services/results/Archives.ts"

/** Of this gateway at a time: with two parts each in memory. */
const MAX_COPIES = 2
const RENEW_EVERY = `${COPY_LEASE_SECONDS / 3} seconds` as const
/** How long a vendor may be silent in the middle of a file. */
const IDLE_SECONDS = 30
const FIRST_PAUSE_SECONDS = 5
const LONGEST_PAUSE_SECONDS = 600
/** How long a vendor's address is taken to live where it does not say so itself. */
const USUAL_LIFE_SECONDS = 24 * 3600

const addressesOf = ({ taskId, task }: ClaimedResult): ReadonlyArray<string | null> =>
  taskKindOf(taskId) === "video" ? [task.videoUrl] : imageAddresses(task)

/** Whether the vendor's addresses have expired, as far as they tell. */
const isOver = (result: ClaimedResult, nowMillis: number): boolean => {
  const ends = addressesOf(result).flatMap((address) =>
    address === null ? [] : (expiryOf(address)?.getTime() ?? [])
  )
  return ends.length > 0 ? Math.min(...ends) <= nowMillis : result.ageSeconds >= USUAL_LIFE_SECONDS
}

export const layerResultCopier = Layer.effectDiscard(
  Effect.gen(function* () {
    const bucket = yield* Bucket
    if (bucket === null) return
    const archives = yield* Archives
    const web = yield* OutgoingWeb
    const { maxContentBytes, pollerSeconds } = yield* Settings
    const running = new Set<ClaimedResult>()
    const fibers = yield* FiberSet.make()

    const copyFile = Effect.fnUntraced(function* (to: ArchiveBucket, key: string, url: string) {
      const answer = yield* web.open({ method: "GET", url, headers: {}, idleSeconds: IDLE_SECONDS })
      const { status } = answer
      if (status !== 200) {
        return yield* new OutgoingFault({
          message: `the vendor answered ${status}`,
          isRefused: false
        })
      }
      // A body that ends before its annotateSpan length fails.
      const contentType = servedType(headerOf(answer, "content-type"))
      const stored = yield* to.put(key, contentType, bytesWithin(maxContentBytes, answer))
      return { ...stored, contentType } satisfies ArchivedFile
    }, Effect.scoped)

    const copyAll = (result: ClaimedResult) =>
      Effect.forEach(addressesOf(result), (address, n) =>
        address === null
          ? new OutgoingFault({ message: `file ${n} has no address`, isRefused: false })
          : copyFile(bucket, keyOf(result.organizationId, result.taskId, n), address)
      )

    const endOf = (result: ClaimedResult, reason: string, nowMillis: number): CopyEnd =>
      isOver(result, nowMillis)
        ? { _tag: "Failed", reason }
        : {
            _tag: "Again",
            reason,
            afterSeconds: Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** result.tries)
          }

    /** Stops a copy whose claim another gateway has taken. */
    const whileClaimed = (result: ClaimedResult) =>
      archives
        .renew(result)
        .pipe(
          Effect.delay(RENEW_EVERY),
          Effect.repeat({ while: (isOurs) => isOurs }),
          Effect.andThen(Effect.interrupt)
        )

    const copy = Effect.fnUntraced(
      function* (result: ClaimedResult) {
        const end = yield* Effect.raceFirst(copyAll(result), whileClaimed(result)).pipe(
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
          yield* Effect.annotateLogs(
            Effect.logWarning("a result could not be archived", end.reason),
            { task: result.taskId }
          )
        }
        yield* archives.ended(result, end)
      },
      Effect.catchCause((cause) => Effect.logWarning("a copy into the archive failed", cause))
    )

    const round = Effect.gen(function* () {
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
    yield* round.pipe(
      Effect.catchCause((cause) => Effect.logWarning("results could not be claimed", cause)),
      Effect.andThen(Effect.sleep(`${pollerSeconds} seconds`)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
