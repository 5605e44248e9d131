/**
 * Extensions at vendors that go on only from videos that they made themselves: the vendor gets its own
 * address of the video, which opens for the account that made it alone.
 */
import { Result } from "effect"
import { InvalidRequest } from "../../domain/Errors.ts"
import { taskNamed, taskPaths } from "../../domain/orderIds.ts"
import { baseVideosOf, type VideoBlock } from "../../domain/video/VideoInput.ts"
import type { OwnVideos } from "../../services/ProtocolAdapter.ts"
import type { EarlierVideo } from "./earlierVideos.ts"

type Blocks = ReadonlyArray<VideoBlock>

/** The mount that is to extend the video. */
interface ExtendingMount {
  readonly channelId: string
  readonly protocol: string
  /** Undefined where the vendor loads the video from any address. */
  readonly ownVideos: OwnVideos | undefined
}

/** The earlier video that an order extends at the vendor that made it. */
export interface Extension {
  /** Undefined where the order names no earlier video. */
  readonly earlier: EarlierVideo | undefined
  readonly nowMillis: number
}

/** The blocks as a mount sends them. */
interface ExtendingBlocks {
  readonly blocks: Blocks
  /** The key of the account that made the video to extend; null where any key may order. */
  readonly keyName: string | null
}

/** The URL or the id of the video that an order extends; null if it extends none. */
const extendedUrl = (blocks: Blocks): string | null =>
  baseVideosOf(blocks).find(({ role }) => role === "extend_video")?.url ?? null

const contentPath = new RegExp(`${taskPaths.video}/([^/]+)/content$`)

/** The id in a link to the content of a video task, as the task's answer has it. */
const idInLink = (url: string): string | null => {
  const { pathname = "" } = URL.parse(url) ?? {}
  const id = contentPath.exec(pathname)?.[1] ?? ""
  return taskNamed(id)?.kind === "video" ? id : null
}

/** The id of the video task that an order extends, from the id itself or a link; null for others. */
export const extendedTaskId = (blocks: Blocks): string | null => {
  const url = extendedUrl(blocks)
  if (url === null) return null
  return taskNamed(url)?.kind === "video" ? url : idInLink(url)
}

const refuse = (message: string) =>
  Result.fail(new InvalidRequest({ message: `video: ${message}`, param: "video" }))

const noOwnVideo = refuse(
  "This model extends only a video that it made itself: give the id of an earlier video task, or the link to its content"
)

const wholeDays = (seconds: number): number => Math.floor(seconds / 86_400)

/** Why the vendor does not extend an earlier video; null if it does. */
const faultOf = (
  { earlier: { task }, nowMillis }: Extension & { readonly earlier: EarlierVideo },
  { channelId, protocol }: ExtendingMount,
  { resolutions, keptSeconds }: OwnVideos
): string | null => {
  if (task.channelId !== channelId || task.protocol !== protocol) {
    return "This model extends only videos that were made through the same channel"
  }
  const resolution = task.kind?.resolution ?? "another resolution"
  if (!resolutions.some((name) => name === resolution)) {
    return `Only videos of ${resolutions.join(", ")} can be extended, and this one has ${resolution}`
  }
  const ageSeconds = (nowMillis - (task.finishedAt?.getTime() ?? 0)) / 1000
  return ageSeconds > keptSeconds
    ? `The video is older than the ${wholeDays(keptSeconds)} days for which the vendor can extend it`
    : null
}

const withAddress = (blocks: Blocks, url: string): Blocks =>
  blocks.map((block) =>
    block.type === "video" && block.role === "extend_video" ? { ...block, url } : block
  )

/**
 * The blocks as a mount sends them: a vendor that extends only its own videos gets its own address of
 * the video. Fails with the reason why the vendor cannot extend the video.
 */
export const extendAt = (
  blocks: Blocks,
  mount: ExtendingMount,
  { earlier, nowMillis }: Extension
): Result.Result<ExtendingBlocks, InvalidRequest> => {
  const url = extendedUrl(blocks)
  const { ownVideos } = mount
  // Any other vendor loads the video from an address.
  if (url === null || ownVideos === undefined) return Result.succeed({ blocks, keyName: null })
  if (earlier === undefined) return noOwnVideo
  const fault = faultOf({ earlier, nowMillis }, mount, ownVideos)
  if (fault !== null) return refuse(fault)
  const { videoUrl, keyName } = earlier.task
  return videoUrl === null
    ? noOwnVideo
    : Result.succeed({ blocks: withAddress(blocks, videoUrl), keyName })
}
