/**
 * Measures MPEG sound of layers I to III (ISO/IEC 11172-3 and 13818-3, and the extension known as
 * MPEG 2.5), frame by frame, whatever stands between the frames.
 */
import { bigEndianAt, isTextAt, offsetBehindId3 } from "./byteReads.ts"

const HEAD_BYTES = 4

/** The first frame has to begin within so many bytes: other files contain a pair of heads by chance. */
const MAX_LEAD_BYTES = 1024 * 1024

/** Kilobits per second by the index in a head, from index 1. */
const kilobits = {
  version1: [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
  ],
  version2: [
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
  ]
} as const

/** Samples per second of version 1, by the index in a head. */
const sampleRates = [44_100, 48_000, 32_000] as const
/** By what the sample rates of a version are divided, by the version's bits; 0 if it is reserved. */
const rateDivisors = [4, 0, 2, 1] as const

/**
 * The bytes and the milliseconds of a frame by the 11 bits of its head that decide on them: version,
 * layer, bit rate, sample rate and padding. A frame of 0 bytes does not exist.
 */
const frameBytes = new Uint16Array(2048)
const frameMilliseconds = new Float64Array(2048)

const samplesOf = (isVersion1: boolean, layer: number): number =>
  layer === 1 ? 384 : layer === 2 || isVersion1 ? 1152 : 576

for (let key = 0; key < 2048; key++) {
  const isVersion1 = key >> 9 === 3
  const divisor = rateDivisors[key >> 9] ?? 0
  const layer = 4 - ((key >> 7) & 3)
  const rateIndex = (key >> 1) & 3
  const bitRateIndex = (key >> 3) & 15
  const rate = divisor === 0 ? 0 : (sampleRates[rateIndex] ?? 0) / divisor
  if (rate === 0 || layer === 4 || bitRateIndex === 15) continue
  const table = isVersion1 ? kilobits.version1 : kilobits.version2
  const bitRate = (table[layer - 1]?.[bitRateIndex - 1] ?? 0) * 1000
  const samples = samplesOf(isVersion1, layer)
  const slotBytes = layer === 1 ? 4 : 1
  const slots = Math.floor((samples * bitRate) / (8 * slotBytes * rate)) + (key & 1)
  // The head of a frame in free format does not tell its size: the next head has to be searched for.
  frameBytes[key] = bitRateIndex === 0 ? HEAD_BYTES : slots * slotBytes
  frameMilliseconds[key] = (samples * 1000) / rate
}

/** The version, the layer and the sample rate in a key: what does not change within a sound. */
const KIND_BITS = 0b11110000110
const BIT_RATE_BITS = 0b1111000

/** The key of the head at an offset; -1 if there is no head. */
const keyAt = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] !== 0xff) return -1
  const second = bytes[at + 1] ?? 0
  if (second < 0xe0) return -1
  const key = (((second >> 1) & 15) << 7) | ((bytes[at + 2] ?? 0) >> 1)
  return frameBytes[key] === 0 ? -1 : key
}

const isSameKind = (key: number, other: number): boolean =>
  (key & KIND_BITS) === (other & KIND_BITS)

/** Whether the frame at an offset is followed by another one, or ends with the file. */
const hasFollower = (bytes: Uint8Array, at: number, key: number): boolean => {
  if ((key & BIT_RATE_BITS) === 0) return false
  const end = at + (frameBytes[key] ?? 0)
  if (end === bytes.length) return true
  const next = keyAt(bytes, end)
  return next >= 0 && isSameKind(next, key)
}

/**
 * The offset of the first frame; -1 if there is none. A file that begins with a head needs no second
 * one if it was cut before that.
 */
const firstFrame = (bytes: Uint8Array, start: number): number => {
  const lastStart = Math.min(bytes.length - HEAD_BYTES, start + MAX_LEAD_BYTES)
  for (let at = start; at <= lastStart; at++) {
    const key = keyAt(bytes, at)
    if (key < 0) continue
    const isCut = at === start && at + (frameBytes[key] ?? 0) > bytes.length
    if (isCut || hasFollower(bytes, at, key)) return at
  }
  return -1
}

/** The milliseconds of all frames from the first one on. */
const millisecondsFrom = (bytes: Uint8Array, first: number): number => {
  let milliseconds = 0
  let lastKey = keyAt(bytes, first)
  let expectedAt = first
  for (let at = first; at + HEAD_BYTES <= bytes.length; ) {
    const key = keyAt(bytes, at)
    // Between frames, for instance in a tag, only a head like that of the last frame is one.
    if (key < 0 || (at !== expectedAt && !isSameKind(key, lastKey))) {
      at++
      continue
    }
    milliseconds += frameMilliseconds[key] ?? 0
    at += frameBytes[key] ?? HEAD_BYTES
    expectedAt = (key & BIT_RATE_BITS) === 0 ? -1 : at
    lastKey = key
  }
  return milliseconds
}

/**
 * The number of frames that the tag in a first frame declares, of Xing and LAME ("Xing", "Info") or
 * of Fraunhofer ("VBRI"); null if the frame has no tag, and so has sound.
 */
const declaredFrames = (bytes: Uint8Array, first: number, key: number): number | null => {
  const isMono = (bytes[first + 3] ?? 0) >> 6 === 3
  const isVersion1 = key >> 9 === 3
  const sideBytes = isVersion1 ? (isMono ? 17 : 32) : isMono ? 9 : 17
  const xing = first + HEAD_BYTES + sideBytes
  if (isTextAt(bytes, xing, "Xing") || isTextAt(bytes, xing, "Info"))
    return ((bytes[xing + 7] ?? 0) & 1) === 1 ? bigEndianAt(bytes, xing + 8, 4) : 0
  const vbri = first + HEAD_BYTES + 32
  return isTextAt(bytes, vbri, "VBRI") ? bigEndianAt(bytes, vbri + 14, 4) : null
}

/** The length in milliseconds; null if the file has no frames. */
export const mp3Milliseconds = (bytes: Buffer): number | null => {
  const first = firstFrame(bytes, offsetBehindId3(bytes))
  if (first < 0) return null
  const key = keyAt(bytes, first)
  const frames = declaredFrames(bytes, first, key)
  const oneFrame = frameMilliseconds[key] ?? 0
  const all = millisecondsFrom(bytes, first)
  return frames === null ? all : Math.max(all - oneFrame, frames * oneFrame)
}
