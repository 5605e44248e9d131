/**
 * Reads the duration of WebM and Matroska files (RFC 9559) from their elements. Some players use
 * the stated duration and some the timestamps of the blocks, so both are compared.
 */
import { areAlike, longestOf } from "./claims.ts"
import type { FileBytes } from "./FileBytes.ts"

const EBML = 0x1a45dfa3
const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TIMESTAMP_SCALE = 0x2ad7b1
const DURATION = 0x4489
const TRACKS = 0x1654ae6b
const TRACK = 0xae
const TRACK_SCALE = 0x23314f
const CLUSTER = 0x1f43b675
const CLUSTER_TIMESTAMP = 0xe7
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const BLOCK_DURATION = 0x9b
const SIMPLE_BLOCK = 0xa3

/**
 * Container elements. Their children follow directly in the file, so the end of the container need
 * not be known.
 */
const containerIds = new Set([SEGMENT, INFO, TRACKS, TRACK, CLUSTER, BLOCK_GROUP])
/** Elements that may occur only once: if there are two, players may take either or add them up. */
const uniqueIds = new Set([EBML, SEGMENT, TIMESTAMP_SCALE, DURATION])

const DEFAULT_NANOS_PER_TICK = 1_000_000
const NANOS_PER_SECOND = 1e9

interface Element {
  readonly id: number
  /** The offset of the content. */
  readonly start: number
  /** The number of bytes of the content; infinite if the element does not state it. */
  readonly size: number
  /** The first bytes of the content, which were read together with the header. */
  readonly begin: Buffer
}

/**
 * The width in bytes of a variable-length integer, from its first byte: 1 to 8, or 9 if it is
 * invalid.
 */
const widthOf = (first: number): number => Math.clz32(first) - 23

const bigEndian = (bytes: Buffer, first = bytes[0] ?? 0): number =>
  bytes.subarray(1).reduce((value, byte) => value * 256 + byte, first)

/**
 * The number of bytes read per element: an id has at most 4 bytes, a size at most 8, and a block
 * begins with its track number and its timestamp.
 */
const MAX_HEAD_BYTES = 16

const elementAt = (file: FileBytes, at: number): Element | null => {
  const head = file.read(at, Math.min(MAX_HEAD_BYTES, file.length - at))
  if (head === null) return null
  const idWidth = widthOf(head[0] ?? 0)
  const width = widthOf(head[idWidth] ?? 0)
  if (idWidth > 4 || idWidth + width > head.length) return null
  // The highest bit that is set marks the width. If the size is unknown, all lower bits are 1.
  const marker = 0x80 >> (width - 1)
  const size = bigEndian(head.subarray(idWidth, idWidth + width), (head[idWidth] ?? 0) - marker)
  return {
    id: bigEndian(head.subarray(0, idWidth)),
    start: at + idWidth + width,
    size: size === 2 ** (7 * width) - 1 ? Number.POSITIVE_INFINITY : size,
    begin: head.subarray(idWidth + width)
  }
}

const numberOf = (file: FileBytes, { start, size }: Element): number => {
  const bytes = size > 8 ? null : file.read(start, size)
  return bytes === null ? 0 : bigEndian(bytes)
}

const floatOf = (file: FileBytes, { start, size }: Element): number => {
  const bytes = size === 4 || size === 8 ? file.read(start, size) : null
  return bytes === null ? 0 : size === 4 ? bytes.readFloatBE(0) : bytes.readDoubleBE(0)
}

/** The timestamp of a block relative to its cluster, in ticks; it follows the track number. */
const ticksOf = (file: FileBytes, { start, begin }: Element): number => {
  const width = widthOf(begin[0] ?? 0)
  const ticks = begin.length < width + 2 ? file.read(start + width, 2) : begin.subarray(width)
  return ticks?.readInt16BE(0) ?? 0
}

interface Times {
  nanosPerTick: number
  /** The duration that the file states, in ticks. */
  statedTicks: number
  /** The start times of the last cluster and of the last block read. */
  clusterTicks: number
  blockTicks: number
  /** The latest end of all blocks read. */
  lastTicks: number
}

/**
 * Records the timestamps and durations in an element; false if players differ in how they read the
 * element.
 */
const readTimes = (file: FileBytes, element: Element, times: Times): boolean => {
  switch (element.id) {
    case TIMESTAMP_SCALE:
      times.nanosPerTick = numberOf(file, element)
      return true
    case DURATION:
      times.statedTicks = floatOf(file, element)
      return true
    case TRACK_SCALE:
      // The field was removed from the standard, so only some players scale a track by it.
      return floatOf(file, element) === 1
    case CLUSTER_TIMESTAMP:
      times.clusterTicks = numberOf(file, element)
      return true
    case SIMPLE_BLOCK:
    case BLOCK:
      times.blockTicks = times.clusterTicks + ticksOf(file, element)
      times.lastTicks = Math.max(times.lastTicks, times.blockTicks)
      return true
    case BLOCK_DURATION:
      times.lastTicks = Math.max(times.lastTicks, times.blockTicks + numberOf(file, element))
      return true
    default:
      return true
  }
}

/**
 * The longest duration, in seconds, that a player could show; null if players may differ by more
 * than rounding, and if the file is of another type. A hostile file may yield any number.
 */
export const webmSeconds = (file: FileBytes): number | null => {
  const first = elementAt(file, 0)
  if (first?.id !== EBML) return null
  const seenIds = new Set([EBML])
  const times: Times = {
    nanosPerTick: DEFAULT_NANOS_PER_TICK,
    statedTicks: 0,
    clusterTicks: 0,
    blockTicks: 0,
    lastTicks: 0
  }
  for (let at = first.start + first.size; at < file.length; ) {
    const element = elementAt(file, at)
    if (element === null || seenIds.has(element.id)) return null
    if (uniqueIds.has(element.id)) seenIds.add(element.id)
    if (!readTimes(file, element, times)) return null
    at = element.start + (containerIds.has(element.id) ? 0 : element.size)
  }
  const { statedTicks, lastTicks, nanosPerTick } = times
  const claims = [statedTicks, lastTicks].map((ticks) => (ticks * nanosPerTick) / NANOS_PER_SECOND)
  const knownClaims = claims.filter((seconds) => seconds > 0)
  return areAlike(knownClaims) ? longestOf(knownClaims) : null
}
