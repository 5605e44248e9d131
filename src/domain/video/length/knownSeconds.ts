/**
 * What the gateway can know of the length of a client's reference videos before it asks a vendor. A
 * handful of numbers in the file's headers is read, wherever they stand, and the rest is passed over,
 * so that it costs the same for quotes and orders, and no client's file keeps others waiting.
 */
import type { VideoBlock } from "../VideoInput.ts"
import { bufferBytes, type FileBytes, fileBytes, type ReadBounds } from "./FileBytes.ts"
import { mp4Seconds } from "./mp4.ts"
import { webmSeconds } from "./webm.ts"

/** Longer than anything a vendor takes; a header that claims more is not believed. */
const MAX_SECONDS = 3600

/**
 * Of all videos of an order together, some 10 milliseconds at most: enough for 20 minutes in fragments
 * of a second, and for 3 minutes of a live recording in WebM. A usual file needs 30 reads.
 */
const MAX_READS = 20_000
const MAX_BYTES = 1024 * 1024

/** A data URL's words before its data are no longer than this. */
const MAX_HEAD = 256
const inlineVideo = /^data:[^,]*;base64,/i

const isPlausible = (seconds: number): boolean =>
  Number.isFinite(seconds) && seconds > 0 && seconds <= MAX_SECONDS

/** Null for a file that was read in part, because its other frames were not counted. */
const fileSeconds = (file: FileBytes): number | null => {
  const seconds = mp4Seconds(file) ?? webmSeconds(file)
  return seconds === null || !isPlausible(seconds) || file.isCutOff() ? null : seconds
}

/**
 * Seconds of the longest film that a player could show of an inline MP4, QuickTime, WebM or Matroska
 * file. Null when it is none of these, its parts give different lengths, it cannot be read, or it would
 * need more than the bounds: nobody is priced by a short header of a long film.
 */
export const videoSeconds = (url: string, bounds: ReadBounds): number | null => {
  const head = inlineVideo.exec(url.slice(0, MAX_HEAD))
  return head === null ? null : fileSeconds(fileBytes(url, head[0].length, bounds))
}

const orderBounds = (): ReadBounds => ({ reads: MAX_READS, bytes: MAX_BYTES })

/** The same of a file in memory, as its length is found when it comes inline as the only one. */
export const uploadedSeconds = (bytes: Buffer): number | null =>
  fileSeconds(bufferBytes(bytes, orderBounds()))

/** The lengths of an order's reference videos, as far as the gateway can tell them. */
interface MeasuredLengths {
  /** Total of those whose length is known; null where there is none. */
  readonly seconds: number | null
  /** Whether there is one whose length is not. */
  readonly hasUnknown: boolean
}

/**
 * Measures the reference videos that came inline and can be read, and takes the lengths of those of
 * `uploaded` by their ids. Remote ones are never fetched.
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
