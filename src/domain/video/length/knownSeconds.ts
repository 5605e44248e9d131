/**
 * Measures the duration of a client's reference videos before the vendor is called. Only a few
 * numbers in the headers of a file are read, wherever they are located. Quotes and orders therefore
 * cost the same, and no client's file blocks the work of other clients.
 */
import type { VideoBlock } from "../VideoInput.ts"
import { bufferBytes, type FileBytes, fileBytes, type ReadBounds } from "./FileBytes.ts"
import { mp4Seconds } from "./mp4.ts"
import { webmSeconds } from "./webm.ts"

/** The maximum plausible duration in seconds, longer than any vendor accepts. */
const MAX_SECONDS = 3600

/**
 * The read quota of all videos of an order together, about 10 milliseconds at most: enough for 20
 * minutes in fragments of one second, and for 3 minutes of a live recording in WebM. A usual file
 * needs 30 reads.
 */
const MAX_READS = 20_000
const MAX_BYTES = 1024 * 1024

/** The maximum length of the header of a data URL. */
const MAX_HEAD = 256
const inlineVideo = /^data:[^,]*;base64,/i

const isPlausible = (seconds: number): boolean =>
  Number.isFinite(seconds) && seconds > 0 && seconds <= MAX_SECONDS

/**
 * The duration of a file; null if the duration is unknown or implausible, or if the quota stopped
 * the reading, so that some frames were not counted.
 */
const fileSeconds = (file: FileBytes): number | null => {
  const seconds = mp4Seconds(file) ?? webmSeconds(file)
  return seconds === null || !isPlausible(seconds) || file.isCutOff() ? null : seconds
}

/**
 * The longest duration, in seconds, that a player could show for an inline MP4, QuickTime, WebM or
 * Matroska file. Null if the file is of another type, if its parts state different durations, if it
 * cannot be read, or if reading would exceed the quota. The header alone does not suffice, because
 * a short duration in it would lower the price of a long video.
 */
export const videoSeconds = (url: string, bounds: ReadBounds): number | null => {
  const head = inlineVideo.exec(url.slice(0, MAX_HEAD))
  return head === null ? null : fileSeconds(fileBytes(url, head[0].length, bounds))
}

const orderBounds = (): ReadBounds => ({ reads: MAX_READS, bytes: MAX_BYTES })

/** The duration of a file in memory, measured like that of a single inline video. */
export const uploadedSeconds = (bytes: Buffer): number | null =>
  fileSeconds(bufferBytes(bytes, orderBounds()))

/** The durations of an order's reference videos, as far as the gateway can measure them. */
interface MeasuredLengths {
  /** The total of all known durations; null if none is known. */
  readonly seconds: number | null
  /** Whether the duration of any video is unknown. */
  readonly hasUnknown: boolean
}

/**
 * Measures inline reference videos, and takes the durations of uploaded files from `uploaded` by
 * file id. Remote videos are never fetched.
 */
export const measureLengths = (
  blocks: ReadonlyArray<VideoBlock>,
  uploaded: ReadonlyMap<string, number | null> = new Map()
): MeasuredLengths => {
  const bounds = orderBounds()
  const lengths = blocks.flatMap((block) => {
    if (block.type !== "video") return []
    const uploadedSeconds = uploaded.get(block.url)
    return [uploadedSeconds === undefined ? videoSeconds(block.url, bounds) : uploadedSeconds]
  })
  const knownLengths = lengths.filter((seconds) => seconds !== null)
  return {
    seconds:
      knownLengths.length === 0 ? null : knownLengths.reduce((sum, seconds) => sum + seconds, 0),
    hasUnknown: knownLengths.length < lengths.length
  }
}
