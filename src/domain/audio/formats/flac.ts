/** Measures FLAC (RFC 9639): what the header declares, and the heads of all frames. */
import { bigEndianAt, isTextAt, offsetBehindId3 } from "./byteReads.ts"

/** The offset of the stream's information behind the signature and the head of its block. */
const INFO_OFFSET = 8
const INFO_BYTES = 34

/** Samples per second by the code in a frame's head; 0 if the code refers to other bytes. */
const sampleRates = [
  0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000
] as const

/** Samples per second that are too few for sound: a head that states them is one by chance. */
const MIN_SAMPLE_RATE = 1000

const checksums = Uint8Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 0x80 ? (rest << 1) ^ 0x07 : rest << 1
  return rest & 0xff
})

/** Whether the byte at `end` is the CRC-8 of the bytes from `start` to there. */
const isIntact = (bytes: Uint8Array, start: number, end: number): boolean => {
  let rest = 0
  for (let at = start; at < end; at++) rest = checksums[rest ^ (bytes[at] ?? 0)] ?? 0
  return end < bytes.length && bytes[end] === rest
}

/** The bytes of a coded number, by its first byte; 0 if that byte begins no number. */
const numberBytesOf = (first: number): number => {
  if (first < 0x80) return 1
  const width = Math.clz32(~(first << 24))
  return width < 2 || width > 7 ? 0 : width
}

/** The bytes behind the coded number that state the samples of a frame, by the code in its head. */
const blockBytesOf = (code: number): number => (code === 6 ? 1 : code === 7 ? 2 : 0)

/** The samples of a frame by the code in its head, or by the bytes at `at`. */
const blockSamplesOf = (bytes: Uint8Array, at: number, code: number): number => {
  if (code === 6 || code === 7) return bigEndianAt(bytes, at, blockBytesOf(code)) + 1
  return code === 1 ? 192 : code < 6 ? 576 * 2 ** (code - 2) : 256 * 2 ** (code - 8)
}

const rateBytesOf = (code: number): number => (code < 12 ? 0 : code === 12 ? 1 : 2)

/** The samples per second that a head states in the bytes at `at`; 0 if it states none. */
const rateOf = (bytes: Uint8Array, at: number, code: number): number => {
  if (code === 12) return 1000 * (bytes[at] ?? 0)
  if (code > 12) return bigEndianAt(bytes, at, 2) * (code === 14 ? 10 : 1)
  return sampleRates[code] ?? 0
}

/**
 * The milliseconds of the FLAC frame whose head stands at an offset (RFC 9639, 9.1); 0 if no head
 * stands there. A frame may state fewer samples per second than the stream; readers use either.
 */
export const flacMillisecondsAt = (bytes: Uint8Array, at: number, streamRate: number): number => {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) return 0
  const codes = bytes[at + 2] ?? 0
  const blockCode = codes >> 4
  const rateCode = codes & 15
  const numberBytes = numberBytesOf(bytes[at + 4] ?? 0)
  const isReserved = ((bytes[at + 3] ?? 0) & 1) === 1
  if (blockCode === 0 || rateCode === 15 || numberBytes === 0 || isReserved) return 0
  const blockStart = at + 4 + numberBytes
  const rateStart = blockStart + blockBytesOf(blockCode)
  if (!isIntact(bytes, at, rateStart + rateBytesOf(rateCode))) return 0
  const samples = blockSamplesOf(bytes, blockStart, blockCode)
  const frameRate = rateOf(bytes, rateStart, rateCode)
  const rate = frameRate < MIN_SAMPLE_RATE ? streamRate : Math.min(frameRate, streamRate)
  return rate === 0 ? 0 : (samples * 1000) / rate
}

/** The samples per second and the declared number of samples, from the stream's information. */
export const flacInfoAt = (
  bytes: Uint8Array,
  at: number
): { readonly rate: number; readonly samples: number } => ({
  rate: bigEndianAt(bytes, at + 10, 3) >> 4,
  samples: ((bytes[at + 13] ?? 0) & 15) * 2 ** 32 + bigEndianAt(bytes, at + 14, 4)
})

/** The length in milliseconds; 0 if there is none, and null if the file is not FLAC. */
export const flacMilliseconds = (bytes: Buffer): number | null => {
  const start = offsetBehindId3(bytes)
  if (!isTextAt(bytes, start, "fLaC")) return null
  const { rate, samples } = flacInfoAt(bytes, start + INFO_OFFSET)
  if (rate === 0) return 0
  let milliseconds = 0
  // Every place is looked at, since the head of a frame does not tell where the next one begins. A
  // chance head, one in 16 million bytes, adds one frame at most.
  for (let at = start + INFO_OFFSET + INFO_BYTES; at < bytes.length; at++)
    if (bytes[at] === 0xff) milliseconds += flacMillisecondsAt(bytes, at, rate)
  return Math.max(milliseconds, (samples * 1000) / rate)
}
