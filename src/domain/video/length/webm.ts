/**
 * The length of WebM and Matroska files (RFC 9559), read from their elements. Some players go by what
 * the file states and some by the times of its blocks, so both are compared.
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

/** What is inside these comes next in the file, so their ends need not be known. */
const containerIds = new Set([SEGMENT, INFO, TRACKS, TRACK, CLUSTER, BLOCK_GROUP])
/** Elements that may occur once: of two, players take either, or add them up. */
const uniqueIds = new Set([EBML, SEGMENT, TIMESTAMP_SCALE, DURATION])

const DEFAULT_NANOS_PER_TICK = 1_000_000
const NANOS_PER_SECOND = 1e9

interface Element {
  readonly id: number
  /** Where its content begins. */
  readonly start: number
  /** Bytes of its content; infinite when it does not say. */
  readonly size: number
  /** The first bytes of its content, which came with its head. */
  readonly begin: Buffer
}

/** Bytes of a number of variable length, by its first byte: 1 to 8, or 9 where it is none. */
const widthOf = (first: number): number => Math.clz32(first) - 23

const bigEndian = (bytes: Buffer, first = bytes[0] ?? 0): number =>
  bytes.subarray(1).reduce((value, byte) => value * 256 + byte, first)

/** An id has at most 4 bytes and a size 8, and a block begins with its track and its time. */
const MAX_HEAD_BYTES = 16

const elementAt = (file: FileBytes, at: number): Element | null => {
  const head = file.read(at, Math.min(MAX_HEAD_BYTES, file.length - at))
  if (head === null) return null
  const idWidth = widthOf(head[0] ?? 0)
  const width = widthOf(head[idWidth] ?? 0)
  if (idWidth > 4 || idWidth + width > head.length) return null
  // The highest bit marks the width; the bits below are all 1 when the size is not known.
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

/** Ticks from its cluster's to a block's time, which stand behind the number of its track. */
const ticksOf = (file: FileBytes, { start, begin }: Element): number => {
  const width = widthOf(begin[0] ?? 0)
  const ticks = begin.length < width + 2 ? file.read(start + width, 2) : begin.subarray(width)
  return ticks?.readInt16BE(0) ?? 0
}

interface Times {
  nanosPerTick: number
  /** The length in ticks, as the file states it. */
  statedTicks: number
  /** Begin of the cluster and of the block that were read last. */
  clusterTicks: number
  blockTicks: number
  /** The end of the latest block. */
  lastTicks: number
}

/** Adds what an element says of times; false where players differ in how they read it. */
const readTimes = (file: FileBytes, element: Element, times: Times): boolean => {
  switch (element.id) {
    case TIMESTAMP_SCALE:
      times.nanosPerTick = numberOf(file, element)
      return true
    case DURATION:
      times.statedTicks = floatOf(file, element)
      return true
    case TRACK_SCALE:
      // The field was withdrawn from the standard, so only some players stretch a track by it.
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
 * Seconds of the longest film that a player could show; null where players may differ by more than
 * rounding, and where the file is of another kind. Any number may come of a hostile file.
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
