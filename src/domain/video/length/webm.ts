/** The length of WebM and Matroska files (RFC 9559), read from their elements. */
import type { FileBytes } from "./FileBytes.ts"

const EBML = 0x1a45dfa3
const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TIMESTAMP_SCALE = 0x2ad7b1
const DURATION = 0x4489
const CLUSTER = 0x1f43b675
const CLUSTER_TIMESTAMP = 0xe7
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const SIMPLE_BLOCK = 0xa3

/** What is inside these comes next in the file, so their ends need not be known. */
const entered = new Set([SEGMENT, INFO, CLUSTER, BLOCK_GROUP])

const DEFAULT_NANOS_PER_TICK = 1_000_000
const NANOS_PER_SECOND = 1e9

interface Element {
  readonly id: number
  /** Where its content begins. */
  readonly start: number
  /** Bytes of its content; infinite when it does not say. */
  readonly size: number
}

/** Bytes of a number of variable length, by its first byte: 1 to 8, or 9 where it is none. */
const widthOf = (first: number): number => Math.clz32(first) - 23

const bigEndian = (bytes: Buffer, first = bytes[0] ?? 0): number =>
  bytes.subarray(1).reduce((value, byte) => value * 256 + byte, first)

/** An id has at most 4 bytes, and a size 8. */
const MAX_HEAD_BYTES = 12

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
    size: size === 2 ** (7 * width) - 1 ? Number.POSITIVE_INFINITY : size
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
const ticksOf = (file: FileBytes, { start }: Element): number => {
  const width = widthOf(file.read(start, 1)?.readUInt8(0) ?? 0)
  return file.read(start + width, 2)?.readInt16BE(0) ?? 0
}

/**
 * The lengths in seconds that the file gives: what it states, then the time of its last block. Any
 * number may come of a broken or hostile file. Nothing for files of another kind.
 */
export function* webmSeconds(file: FileBytes): Generator<number> {
  const first = elementAt(file, 0)
  if (first?.id !== EBML) return
  let nanosPerTick = DEFAULT_NANOS_PER_TICK
  let stated = 0
  let clusterTicks: number | null = null
  let lastTicks = 0
  const seconds = (ticks: number) => (ticks * nanosPerTick) / NANOS_PER_SECOND
  for (let at = first.start + first.size; at < file.length; ) {
    const element = elementAt(file, at)
    if (element === null) break
    if (element.id === TIMESTAMP_SCALE) nanosPerTick = numberOf(file, element)
    if (element.id === DURATION) stated = floatOf(file, element)
    if (element.id === CLUSTER && clusterTicks === null) yield seconds(stated)
    if (element.id === CLUSTER) clusterTicks = 0
    if (element.id === CLUSTER_TIMESTAMP) clusterTicks = numberOf(file, element)
    if (element.id === SIMPLE_BLOCK || element.id === BLOCK) {
      lastTicks = Math.max(lastTicks, (clusterTicks ?? 0) + ticksOf(file, element))
    }
    at = element.start + (entered.has(element.id) ? 0 : element.size)
  }
  yield seconds(stated)
  yield seconds(lastTicks)
}
