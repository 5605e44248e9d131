/** Measures Ogg files (RFC 3533) with Opus (RFC 7845), Vorbis and FLAC in them. */
import { isTextAt, littleEndianAt } from "./byteReads.ts"
import { flacInfoAt, flacMillisecondsAt } from "./flac.ts"
import { opusMillisecondsAt } from "./opus.ts"

const PAGE_HEAD_BYTES = 27
const CAPTURE = Buffer.from("OggS", "latin1")
const IS_CONTINUED = 1
const IS_FIRST = 2

/** Positions of this size and above are negative: such a page ends no packet. */
const LEAST_NEGATIVE = 2 ** 63

/**
 * A packet has a byte at least, and one in a segment table, so that a file has half as many segments
 * as bytes at most. One with more has page heads within page heads, which no reader plays, so that
 * it has no length.
 */
const MAX_SEGMENTS_PER_BYTE = 0.5

/** More streams in a file than anybody concatenates: such a file has no length either. */
const MAX_STREAMS = 10_000

interface Codec {
  readonly samplesPerSecond: number
  /** The samples at the start that are decoded and not played. */
  readonly skippedSamples: number
  /** The milliseconds of the packet from `at` to `end`, as far as its first bytes tell them. */
  readonly packetMilliseconds: (bytes: Buffer, at: number, end: number) => number
}

interface Stream {
  readonly codec: Codec
  /** The last position that a page states, in samples. */
  lastPosition: number
  /** The milliseconds of all packets so far, and of the last one. */
  packetMilliseconds: number
  lastPacketMilliseconds: number
}

const opusCodec = (bytes: Buffer, at: number): Codec => ({
  samplesPerSecond: 48_000,
  skippedSamples: littleEndianAt(bytes, at + 10, 2),
  packetMilliseconds: (file, packet, end) =>
    packet >= end || isTextAt(file, packet, "Opus") ? 0 : opusMillisecondsAt(file, packet)
})

/**
 * The size of a Vorbis packet's block is only in the setup of the decoder, so each counts as a short
 * one here: half a block of samples overlaps with the next.
 */
const vorbisCodec = (bytes: Buffer, at: number): Codec => {
  const samplesPerSecond = littleEndianAt(bytes, at + 12, 4)
  const shortBlock = 2 ** ((bytes[at + 28] ?? 0) & 15)
  const milliseconds = samplesPerSecond === 0 ? 0 : (shortBlock * 500) / samplesPerSecond
  return {
    samplesPerSecond,
    skippedSamples: 0,
    packetMilliseconds: (file, packet, end) =>
      packet < end && ((file[packet] ?? 1) & 1) === 0 ? milliseconds : 0
  }
}

const flacCodec = (bytes: Buffer, at: number): Codec => {
  const { rate } = flacInfoAt(bytes, at + 17)
  return {
    samplesPerSecond: rate,
    skippedSamples: 0,
    packetMilliseconds: (file, packet) => flacMillisecondsAt(file, packet, rate)
  }
}

/** The codec of a stream, by its first packet; null if it is not of sound. */
const codecAt = (bytes: Buffer, at: number): Codec | null => {
  if (isTextAt(bytes, at, "OpusHead")) return opusCodec(bytes, at)
  if (isTextAt(bytes, at, "\x01vorbis")) return vorbisCodec(bytes, at)
  return isTextAt(bytes, at, "\x7fFLAC") ? flacCodec(bytes, at) : null
}

/** Adds the packets that begin in a page. */
const addPackets = (bytes: Buffer, page: number, stream: Stream): void => {
  const segments = bytes[page + 26] ?? 0
  const table = page + PAGE_HEAD_BYTES
  let at = table + segments
  let isStart = ((bytes[page + 5] ?? 0) & IS_CONTINUED) === 0
  for (let index = table; index < table + segments; index++) {
    const size = bytes[index] ?? 0
    if (isStart) {
      const milliseconds = stream.codec.packetMilliseconds(bytes, at, at + size)
      stream.packetMilliseconds += milliseconds
      if (milliseconds > 0) stream.lastPacketMilliseconds = milliseconds
    }
    at += size
    isStart = size < 255
  }
}

const millisecondsOf = (stream: Stream): number => {
  const { samplesPerSecond, skippedSamples } = stream.codec
  if (samplesPerSecond === 0) return 0
  const toMilliseconds = 1000 / samplesPerSecond
  const byPosition = (stream.lastPosition - skippedSamples) * toMilliseconds
  const byPackets = stream.packetMilliseconds - skippedSamples * toMilliseconds
  // A sound may end within its last packet.
  const isEnding = byPackets - byPosition < stream.lastPacketMilliseconds
  return Math.max(isEnding ? byPosition : byPackets, 0)
}

/** The streams that play at the same time: the first pages of all stand before any other page. */
type Link = Array<Stream>

class OggFile {
  private readonly bytes: Buffer
  private readonly streams = new Map<number, Stream>()
  private readonly links: Array<Link> = []
  streamCount = 0
  /** Whether the last page was the first one of a stream. */
  private isBeginning = false

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  private addStream(page: number, serial: number): void {
    const first = page + PAGE_HEAD_BYTES + (this.bytes[page + 26] ?? 0)
    const codec = codecAt(this.bytes, first)
    this.streamCount++
    if (!this.isBeginning) this.links.push([])
    this.isBeginning = true
    if (codec === null) return
    const stream = { codec, lastPosition: 0, packetMilliseconds: 0, lastPacketMilliseconds: 0 }
    this.streams.set(serial, stream)
    this.links.at(-1)?.push(stream)
  }

  addPage(page: number): void {
    const serial = littleEndianAt(this.bytes, page + 14, 4)
    if (((this.bytes[page + 5] ?? 0) & IS_FIRST) !== 0) {
      this.addStream(page, serial)
      return
    }
    this.isBeginning = false
    const stream = this.streams.get(serial)
    if (stream === undefined) return
    const position = littleEndianAt(this.bytes, page + 6, 8)
    if (position < LEAST_NEGATIVE) stream.lastPosition = Math.max(stream.lastPosition, position)
    addPackets(this.bytes, page, stream)
  }

  /** The milliseconds of all links, one after the other. */
  milliseconds(): number {
    return this.links.reduce(
      (sum, link) =>
        sum + link.reduce((longest, stream) => Math.max(longest, millisecondsOf(stream)), 0),
      0
    )
  }
}

/**
 * The length in milliseconds; 0 if there is none, and null if the file is not Ogg. Every page head
 * in the file counts, even within what another page claims as its content: readers look for the
 * next head too if the checksum of a page is wrong.
 */
export const oggMilliseconds = (bytes: Buffer): number | null => {
  if (!isTextAt(bytes, 0, "OggS")) return null
  const file = new OggFile(bytes)
  let segments = 0
  for (let page = 0; page >= 0; page = bytes.indexOf(CAPTURE, page + PAGE_HEAD_BYTES)) {
    if (page + PAGE_HEAD_BYTES > bytes.length) break
    // The version, and flags of which none is reserved.
    if (bytes[page + 4] !== 0 || (bytes[page + 5] ?? 0) > 7) continue
    segments += bytes[page + 26] ?? 0
    file.addPage(page)
    if (segments > MAX_SEGMENTS_PER_BYTE * bytes.length || file.streamCount > MAX_STREAMS) return 0
  }
  return file.milliseconds()
}
