/**
 * Finds the organisation's earlier videos to which an order refers by their task ids, and the
 * addresses from which a vendor loads them.
 */
import { Clock, Effect, type Result } from "effect"
import { makeNeedsKey } from "../../channels/vendorFiles.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { VideoTaskReference } from "../../domain/mediaUrls.ts"
import { taskNamed } from "../../domain/orderIds.ts"
import { type FieldFault, MAX_FIELD_FAULTS, withoutFaults } from "../../domain/requestFields.ts"
import { expiryOf } from "../../domain/resultAddresses.ts"
import { publicState } from "../../domain/taskStates.ts"
import type { VideoBlock } from "../../domain/video/VideoInput.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { Bucket, objectKeyOf } from "../../services/results/ArchiveBucket.ts"
import { Archives } from "../../services/results/Archives.ts"
import { ContentLinks } from "../../services/results/ContentLinks.ts"
import { type Task, TaskRepo } from "../../services/TaskRepo.ts"
import { urlSecondsOf } from "../orderFiles.ts"

/** An earlier video, as an order uses it. */
export interface EarlierVideo {
  readonly task: Pick<
    Task,
    "channelId" | "protocol" | "keyName" | "videoUrl" | "kind" | "ratio" | "finishedAt"
  >
  /** The address from which every vendor can load it; null where there is none. */
  readonly address: string | null
  /** Its length; null where the model chose it, or where it was made from another video. */
  readonly seconds: number | null
}

const messages = {
  processing: "is not finished yet",
  failed: "has failed, so there is no video"
}

/** Fails if a vendor would have to load an earlier video that has no address. */
export const checkAddresses = (
  blocks: ReadonlyArray<VideoBlock>,
  withoutAddress: ReadonlyArray<VideoTaskReference>
): Result.Result<void, InvalidRequest> => {
  const urls = new Set(blocks.map((block) => (block.type === "video" ? block.url : null)))
  return withoutFaults(
    withoutAddress
      .filter(({ id }) => urls.has(id))
      .map(({ path, id }) => ({ path, message: `${JSON.stringify(id)} has no file any more` }))
  )
}

/** The length of a video. An extended one may contain its video, so only the vendor knows it. */
const lengthOf = ({ kind, source }: Task): number | null =>
  source?.role !== "extend_video" && typeof kind?.seconds === "number" ? kind.seconds : null

export const makeFindVideos = Effect.gen(function* () {
  const tasks = yield* TaskRepo
  const archives = yield* Archives
  const bucket = yield* Bucket
  const links = yield* ContentLinks
  const needsKey = yield* makeNeedsKey
  const settings = yield* Settings
  const { archiveRedirect, publicUrl } = settings

  /** The gateway's link to the file; null where vendors do not reach the gateway. */
  const linkOf = ({ organizationId, id, memberId }: Task, reader: Caller, nowMillis: number) =>
    publicUrl === ""
      ? null
      : publicUrl +
        links.path(
          "video",
          { organizationId, members: [...new Set([memberId, reader.memberId])], id, n: 0 },
          nowMillis
        )

  /** The address in the archive; null where the archive does not have the video. */
  const archivedAddress = Effect.fnUntraced(function* (
    task: Task,
    reader: Caller,
    nowMillis: number
  ) {
    const { organizationId, id, isArchived } = task
    if (!isArchived || bucket === null) return null
    const [file] = (yield* archives.files(organizationId, id)) ?? []
    if (file === undefined) return null
    if (archiveRedirect) {
      const key = objectKeyOf(organizationId, id, 0)
      return yield* bucket.presign(key, file.contentType, urlSecondsOf(settings))
    }
    return linkOf(task, reader, nowMillis)
  })

  /**
   * The address at the vendor; null where it has expired. A file that only the key of its account
   * opens is loaded through the gateway.
   */
  const vendorAddress = (task: Task, reader: Caller, nowMillis: number): string | null => {
    const { videoUrl } = task
    if (videoUrl === null) return null
    if (needsKey(task)) return linkOf(task, reader, nowMillis)
    const end = expiryOf(videoUrl)
    return end !== null && end.getTime() <= nowMillis ? null : videoUrl
  }

  /** The video, or what is wrong with it. */
  const findVideo = Effect.fnUntraced(function* (caller: Caller, id: string) {
    const task = yield* tasks
      .find(caller.organizationId, taskNamed(id)?.id ?? id)
      .pipe(Effect.catchTag("task_not_found", () => Effect.succeed(null)))
    if (task === null) return `No video is called ${JSON.stringify(id)}`
    const state = publicState(task.state) ?? "failed"
    if (state !== "succeeded") return `${JSON.stringify(id)} ${messages[state]}`
    const now = yield* Clock.currentTimeMillis
    const archiveAddress = yield* Effect.catchTag(
      archivedAddress(task, caller, now),
      "BucketFault",
      ({ message }) =>
        Effect.logWarning("archive: presigning a file failed").pipe(
          Effect.annotateLogs({ order_id: task.id, cause: message }),
          Effect.as(null)
        )
    )
    const address = archiveAddress ?? vendorAddress(task, caller, now)
    return { task, address, seconds: lengthOf(task) } satisfies EarlierVideo
  })

  /**
   * The videos by the ids that the order has. A video of another organisation is not found, as one
   * that does not exist.
   */
  return Effect.fnUntraced(function* (
    caller: Caller,
    references: ReadonlyArray<VideoTaskReference>
  ) {
    const videos = new Map<string, EarlierVideo>()
    const faults: Array<FieldFault> = []
    for (const { path, id } of references) {
      const video = videos.get(id) ?? (yield* findVideo(caller, id))
      if (typeof video === "string") faults.push({ path, message: video })
      else videos.set(id, video)
    }
    yield* Effect.fromResult(withoutFaults(faults.slice(0, MAX_FIELD_FAULTS)))
    return videos
  })
})
