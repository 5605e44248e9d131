/** Measures WebM and Matroska files (RFC 9559). */
import { bigEndianAt, isTextAt } from "./byteReads.ts"
import { opusMillisecondsAt } from "./opus.ts"

const EBML = 0x1a45dfa3
const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TIMESTAMP_SCALE = 0x2ad7b1
const DURATION = 0x4489
const TRACKS = 0x1654ae6b
const TRACK = 0xae
const TRACK_NUMBER = 0xd7
const CODEC = 0x86
const DEFAULT_DURATION = 0x23e383
const CLUSTER = 0x1f43b675
const CLUSTER_TIMESTAMP = 0xe7
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const BLOCK_DURATION = 0x9b
const SIMPLE_BLOCK = 0xa3

const CLUSTER_BYTES = Buffer.from([0x1f, 0x43, 0xb6, 0x75])
/**
 * The most elements, places with bytes that are none, and tracks that are read in a file: 25 MB in
 * packets of 20 bytes have as many elements. A file with more has no length.
 */
const MAX_ELEMENTS = 1_000_000
const MAX_GAPS = 10_000
const MAX_TRACKS = 1000

const DEFAULT_NANOS_PER_TICK = 1_000_000
const NANOS_PER_MILLISECOND = 1e6

/**
 * Container elements. Their children follow directly in the file, so the end of the container need
 * not be known.
 */
const isContainer = (id: number): boolean =>
  id === CLUSTER ||
  id === BLOCK_GROUP ||
  id === SEGMENT ||
  id === INFO ||
  id === TRACKS ||
  id === TRACK

interface Track {
  isOpus: boolean
  /** The nanoseconds of a frame; 0 if the track does not state them. */
  frameNanos: number
  /** The start of its last block in ticks, the time until the one before, and the latest start. */
  blockTicks: number
  gapTicks: number
  /** The milliseconds of all its Opus packets. */
  packetMilliseconds: number
}

const newTrack = (): Track => ({
  isOpus: false,
  frameNanos: 0,
  blockTicks: 0,
  gapTicks: 0,
  packetMilliseconds: 0
})

/** The width in bytes of a number of variable length, by its first byte: 1 to 8, or 9 for none. */
const widthOf = (first: number): number => Math.clz32(first) - 23

/** A number of variable length without the bit that marks its width. */
const variableAt = (bytes: Uint8Array, at: number, width: number): number =>
  bigEndianAt(bytes, at + 1, width - 1) +
  ((bytes[at] ?? 0) & (0x7f >> (width - 1))) * 256 ** (width - 1)

const floatAt = (bytes: Buffer, at: number, size: number): number => {
  if ((size !== 4 && size !== 8) || at + size > bytes.length) return 0
  const value = size === 4 ? bytes.readFloatBE(at) : bytes.readDoubleBE(at)
  return Number.isFinite(value) ? value : 0
}

/**
 * The offset of the first frame in a block, behind the sizes of all of its frames. `head` is the
 * offset of the number of frames, and `lacing` says how the sizes are written.
 */
const behindSizes = (bytes: Buffer, head: number, lacing: number): number => {
  const others = bytes[head] ?? 0
  let at = head + 1
  if (lacing === 3) for (let index = 0; index < others; index++) at += widthOf(bytes[at] ?? 0)
  if (lacing === 1)
    for (let index = 0; index < others && at < bytes.length; at++)
      if ((bytes[at] ?? 0) < 255) index++
  return at
}

class MatroskaFile {
  private readonly bytes: Buffer
  private readonly tracks = new Map<number, Track>()
  /** The track whose description, or whose block, was read last. */
  private track = newTrack()
  private nanosPerTick = DEFAULT_NANOS_PER_TICK
  private declaredTicks = 0
  private clusterTicks = 0
  /** The latest end of a block that states its length or that of its frames. */
  private lastTicks = 0
  /** The latest end of any other block: it lasts as long as the block before. */
  private guessedTicks = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Counts the frames of a block, which begins with the numbers of its track and of its ticks. */
  private addBlock(at: number, end: number): void {
    const { bytes } = this
    const width = widthOf(bytes[at] ?? 0)
    const number = variableAt(bytes, at, width)
    const flagsAt = at + width + 2
    if (width > 8 || flagsAt >= bytes.length) return
    const track = this.trackOf(number)
    const ticks = this.clusterTicks + bytes.readInt16BE(at + width)
    track.gapTicks = Math.max(ticks - track.blockTicks, 0)
    track.blockTicks = ticks
    this.track = track
    const lacing = ((bytes[flagsAt] ?? 0) >> 1) & 3
    const frames = lacing === 0 ? 1 : (bytes[flagsAt + 1] ?? 0) + 1
    const first = lacing === 0 ? flagsAt + 1 : behindSizes(bytes, flagsAt + 1, lacing)
    const isHeld = track.isOpus && first < Math.min(end, bytes.length)
    const packetMilliseconds = isHeld ? frames * opusMillisecondsAt(bytes, first) : 0
    track.packetMilliseconds += packetMilliseconds
    const blockTicks = Math.max(
      (packetMilliseconds * NANOS_PER_MILLISECOND) / (this.nanosPerTick || 1),
      (frames * track.frameNanos) / (this.nanosPerTick || 1)
    )
    this.lastTicks = Math.max(this.lastTicks, ticks + blockTicks)
    if (blockTicks === 0) this.guessedTicks = Math.max(this.guessedTicks, ticks + track.gapTicks)
  }

  /** Whether there are more tracks than in any real file. */
  get isOverfull(): boolean {
    return this.tracks.size > MAX_TRACKS
  }

  private trackOf(number: number): Track {
    const known = this.tracks.get(number)
    if (known !== undefined) return known
    const track = newTrack()
    this.tracks.set(number, track)
    return track
  }

  /** Keeps the description of a track whose fields may precede its number. */
  private nameTrack(number: number): void {
    this.tracks.set(number, this.track)
  }

  /** Reads a field outside of the clusters. */
  private readField(id: number, at: number, size: number): void {
    const { bytes } = this
    if (id === TIMESTAMP_SCALE) this.nanosPerTick = bigEndianAt(bytes, at, Math.min(size, 8))
    else if (id === DURATION)
      this.declaredTicks = Math.max(this.declaredTicks, floatAt(bytes, at, size))
    else if (id === TRACK) this.track = newTrack()
    else if (id === TRACK_NUMBER) this.nameTrack(bigEndianAt(bytes, at, Math.min(size, 8)))
    else if (id === CODEC) this.track.isOpus = isTextAt(bytes, at, "A_OPUS")
    else if (id === DEFAULT_DURATION)
      this.track.frameNanos = bigEndianAt(bytes, at, Math.min(size, 8))
  }

  readElement(id: number, at: number, size: number): void {
    if (id === SIMPLE_BLOCK || id === BLOCK) this.addBlock(at, at + size)
    else if (id === CLUSTER_TIMESTAMP)
      this.clusterTicks = bigEndianAt(this.bytes, at, Math.min(size, 8))
    else if (id === BLOCK_DURATION) {
      const ticks = bigEndianAt(this.bytes, at, Math.min(size, 8))
      this.lastTicks = Math.max(this.lastTicks, this.track.blockTicks + ticks)
    } else this.readField(id, at, size)
  }

  milliseconds(): number {
    // The guess counts only where it is needed: a last block is often shorter than the one before.
    const isLowDeclared = this.declaredTicks <= this.lastTicks
    const ticks = isLowDeclared
      ? Math.max(this.lastTicks, this.guessedTicks)
      : Math.max(this.lastTicks, this.declaredTicks)
    let longest = (ticks * this.nanosPerTick) / NANOS_PER_MILLISECOND
    for (const { packetMilliseconds } of this.tracks.values())
      longest = Math.max(longest, packetMilliseconds)
    return longest
  }
}

/**
 * The length in milliseconds; 0 if there is none, and null if the file is not Matroska. Behind bytes
 * that are no element, reading goes on at the next cluster, as in readers.
 */
export const webmMilliseconds = (bytes: Buffer): number | null => {
  if (bigEndianAt(bytes, 0, 4) !== EBML) return null
  const file = new MatroskaFile(bytes)
  let elements = 0
  let gaps = 0
  for (let at = 0; at >= 0 && at < bytes.length; elements++) {
    if (elements > MAX_ELEMENTS || gaps > MAX_GAPS || file.isOverfull) return 0
    const idWidth = widthOf(bytes[at] ?? 0)
    const width = widthOf(bytes[at + idWidth] ?? 0)
    const id = bigEndianAt(bytes, at, idWidth)
    const start = at + idWidth + width
    const size = variableAt(bytes, at + idWidth, width)
    // If all bits of a size are 1, it is unknown.
    const isUnknown = size === 2 ** (7 * width) - 1
    if (idWidth > 4 || width > 8 || (isUnknown && !isContainer(id))) {
      at = bytes.indexOf(CLUSTER_BYTES, at + 1)
      gaps++
      continue
    }
    file.readElement(id, start, size)
    at = isContainer(id) ? start : start + size
  }
  return file.milliseconds()
}
