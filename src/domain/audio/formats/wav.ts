/** Measures WAVE files: RIFF, RF64 and BW64 (EBU Tech 3306), and RIFX. */
import { bigEndianAt, isTextAt, littleEndianAt } from "./byteReads.ts"
import { mp3Milliseconds } from "./mp3.ts"

const HEAD_BYTES = 12
const CHUNK_HEAD_BYTES = 8

/** Sizes that a writer states which could not go back to fill them in: 0, or more than 2 GB. */
const LEAST_UNKNOWN_SIZE = 0x7fff0000

/** Fewer bytes in a second than those of any speech codec: no such rate is meant. */
const MIN_BYTE_RATE = 100

const MPEG_LAYER_3 = 0x55

interface Wave {
  readonly bytes: Buffer
  readonly numberAt: (bytes: Uint8Array, at: number, width: number) => number
  /** The offset of the content of the `fmt ` chunk; null if there is none so far. */
  formatStart: number | null
  /** The samples per channel that a `fact` chunk declares; 0 if it is missing. */
  declaredSamples: number
  /** The size of the data by the `ds64` chunk of a file with 64-bit sizes; 0 if it is missing. */
  longDataBytes: number
  /** The bytes of all `data` chunks, and the offset of the first. */
  dataBytes: number
  dataStart: number
  /** Whether the file is known to be nothing but whole chunks from the current one on. */
  isOnlyChunks: boolean
}

/** Whether the rest of a file is nothing but whole chunks, the last of which may lack its padding. */
const hasOnlyChunks = ({ bytes, numberAt }: Wave, start: number): boolean => {
  let at = start
  while (at + CHUNK_HEAD_BYTES <= bytes.length) {
    for (let index = at; index < at + 4; index++) {
      const character = bytes[index] ?? 0
      if (character < 0x20 || character > 0x7e) return false
    }
    const size = numberAt(bytes, at + 4, 4)
    at += CHUNK_HEAD_BYTES + size + (size % 2)
  }
  return at >= bytes.length ? at <= bytes.length + 1 : at + 1 === bytes.length
}

/**
 * The size of the `data` chunk with its content at `start`: the rest of the file, unless nothing but
 * other chunks follows it.
 */
const dataBytesAt = (wave: Wave, start: number, statedBytes: number): number => {
  const restBytes = wave.bytes.length - start
  const declared =
    statedBytes >= LEAST_UNKNOWN_SIZE && wave.longDataBytes > 0 ? wave.longDataBytes : statedBytes
  if (declared === 0 || declared >= restBytes) return restBytes
  // Looked at once: a file may have any number of data chunks.
  wave.isOnlyChunks ||= hasOnlyChunks(wave, start + declared + (declared % 2))
  return wave.isOnlyChunks ? declared : restBytes
}

/** Reads a chunk with its content at `start`, and returns the size of that content. */
const readChunk = (wave: Wave, start: number): number => {
  const { bytes, numberAt } = wave
  const head = start - CHUNK_HEAD_BYTES
  const statedBytes = numberAt(bytes, head + 4, 4)
  if (isTextAt(bytes, head, "data")) {
    const dataBytes = dataBytesAt(wave, start, statedBytes)
    if (wave.dataStart === 0) wave.dataStart = start
    wave.dataBytes += dataBytes
    return dataBytes
  }
  if (isTextAt(bytes, head, "fmt ")) wave.formatStart ??= start
  else if (isTextAt(bytes, head, "fact")) wave.declaredSamples = numberAt(bytes, start, 4)
  else if (isTextAt(bytes, head, "ds64")) wave.longDataBytes = numberAt(bytes, start + 8, 8)
  return statedBytes
}

const readChunks = (wave: Wave): void => {
  for (let at = HEAD_BYTES; at + CHUNK_HEAD_BYTES <= wave.bytes.length; ) {
    const start = at + CHUNK_HEAD_BYTES
    const size = readChunk(wave, start)
    at = start + size + (size % 2)
  }
}

/**
 * The length by the `fmt ` chunk. It states the bytes of a second in three ways, of which readers
 * use one or another, so that the fewest bytes count.
 */
const millisecondsOf = (wave: Wave, format: number): number => {
  const { bytes, numberAt, dataStart, dataBytes, declaredSamples } = wave
  const field = (offset: number, width: number) => numberAt(bytes, format + offset, width)
  const isMpeg = field(0, 2) === MPEG_LAYER_3
  const samplesPerSecond = field(4, 4)
  const bytesPerSecond = [
    field(8, 4),
    (samplesPerSecond * field(2, 2) * field(14, 2)) / 8,
    // A block of a compressed format has more than one sample, and the bits of a sample are 0.
    field(14, 2) >= 8 ? samplesPerSecond * field(12, 2) : 0
  ].filter((rate) => rate >= MIN_BYTE_RATE)
  const byBytes = bytesPerSecond.length === 0 ? 0 : dataBytes / Math.min(...bytesPerSecond)
  const isDeclared = samplesPerSecond > 0 && declaredSamples < LEAST_UNKNOWN_SIZE
  const bySamples = isDeclared ? declaredSamples / samplesPerSecond : 0
  const byFrames = isMpeg ? (mp3Milliseconds(bytes.subarray(dataStart)) ?? 0) : 0
  return Math.max(byBytes * 1000, bySamples * 1000, byFrames)
}

/** The length in milliseconds; 0 if there is none, and null if the file is not a WAVE file. */
export const wavMilliseconds = (bytes: Buffer): number | null => {
  const isBigEndian = isTextAt(bytes, 0, "RIFX")
  const isRiff = isBigEndian || ["RIFF", "RF64", "BW64"].some((text) => isTextAt(bytes, 0, text))
  if (!isRiff || !isTextAt(bytes, 8, "WAVE")) return null
  const wave: Wave = {
    bytes,
    numberAt: isBigEndian ? bigEndianAt : littleEndianAt,
    formatStart: null,
    declaredSamples: 0,
    longDataBytes: 0,
    dataBytes: 0,
    dataStart: 0,
    isOnlyChunks: false
  }
  readChunks(wave)
  return wave.formatStart === null ? 0 : millisecondsOf(wave, wave.formatStart)
}
