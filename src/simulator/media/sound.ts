import { makeOggOpus } from "./oggOpus.ts"

/** The formats of a spoken answer, as in the `response_format` of OpenAI's `/v1/audio/speech`. */
export const madeSounds = ["wav", "mp3", "opus", "flac", "aac", "pcm"] as const
export type MadeSound = (typeof madeSounds)[number]

/** All sounds are mono; those of OpenAI have as many samples in a second too. */
const samplesPerSecond = 24_000
const sampleBytes = 2

const samplesIn = (milliseconds: number): number =>
  Math.round((milliseconds * samplesPerSecond) / 1000)

/** One period of the tone, of 400 Hz, at a hundredth of full scale. */
const tonePeriod = (() => {
  const samples = samplesPerSecond / 400
  const period = Buffer.alloc(samples * sampleBytes)
  for (let index = 0; index < samples; index++)
    period.writeInt16LE(Math.round(328 * Math.sin((2 * Math.PI * index) / samples)), 2 * index)
  return period
})()

const makePcm = (milliseconds: number): Buffer =>
  Buffer.alloc(samplesIn(milliseconds) * sampleBytes, tonePeriod)

const makeWav = (milliseconds: number): Buffer => {
  const data = makePcm(milliseconds)
  const head = Buffer.alloc(44)
  head.write("RIFF", 0, "latin1")
  head.writeUInt32LE(36 + data.length, 4)
  head.write("WAVEfmt ", 8, "latin1")
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(samplesPerSecond, 24)
  head.writeUInt32LE(samplesPerSecond * sampleBytes, 28)
  head.writeUInt16LE(sampleBytes, 32)
  head.writeUInt16LE(8 * sampleBytes, 34)
  head.write("data", 36, "latin1")
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

/** The same frame as often as the length needs. */
const makeFrames = (frame: Buffer, frameSamples: number, milliseconds: number): Buffer =>
  Buffer.alloc(Math.ceil(samplesIn(milliseconds) / frameSamples) * frame.length, frame)

/** MPEG-2 layer III at 32 kbit/s: a frame of 96 bytes whose side information is 0 is silent. */
const mp3Frame = Buffer.alloc(96)
mp3Frame.set([0xff, 0xf3, 0x44, 0xc4])
const mp3FrameSamples = 576

/**
 * AAC LC: the head of ADTS, which states its 11 bytes, and one channel without any band, which is
 * silent.
 */
const aacFrame = Buffer.from([0xff, 0xf1, 0x58, 0x40, 0x01, 0x7f, 0xfc, 0x00, 0x00, 0x00, 0x07])
const aacFrameSamples = 1024

/** The remainder of a byte by a polynomial of `width` bits, as checksums of FLAC have it. */
const remainderOf = (byte: number, polynomial: number, width: number): number => {
  const top = 1 << (width - 1)
  let rest = byte << (width - 8)
  for (let bit = 0; bit < 8; bit++) rest = rest & top ? (rest << 1) ^ polynomial : rest << 1
  return rest & (2 ** width - 1)
}

const flacHeadChecksums = Uint8Array.from({ length: 256 }, (_, byte) => remainderOf(byte, 0x07, 8))
const flacFrameChecksums = Uint16Array.from({ length: 256 }, (_, byte) =>
  remainderOf(byte, 0x8005, 16)
)

const flacHeadChecksum = (bytes: Uint8Array): number =>
  bytes.reduce((rest, byte) => flacHeadChecksums[rest ^ byte] ?? 0, 0)

const flacFrameChecksum = (bytes: Uint8Array): number =>
  bytes.reduce(
    (rest, byte) => ((rest << 8) & 0xffff) ^ (flacFrameChecksums[(rest >> 8) ^ byte] ?? 0),
    0
  )

/** A frame's number, coded like a character in UTF-8, of up to 16 bits. */
const codedNumber = (value: number): ReadonlyArray<number> => {
  if (value < 0x80) return [value]
  if (value < 0x800) return [0xc0 | (value >> 6), 0x80 | (value & 63)]
  return [0xe0 | (value >> 12), 0x80 | ((value >> 6) & 63), 0x80 | (value & 63)]
}

/** A frame in which the samples of the only channel are all 0. */
const flacFrame = (number: number, samples: number): Buffer => {
  const sizeBytes = [(samples - 1) >> 8, (samples - 1) & 0xff]
  const head = [0xff, 0xf8, 0x77, 0x08, ...codedNumber(number), ...sizeBytes]
  const frame = Buffer.from([...head, flacHeadChecksum(Uint8Array.from(head)), 0, 0, 0, 0, 0])
  frame.writeUInt16BE(flacFrameChecksum(frame.subarray(0, -2)), frame.length - 2)
  return frame
}

const flacFrameSamples = 4096

/** FLAC (RFC 9639); the checksum of its samples is left out, which a header may do. */
const makeFlac = (milliseconds: number): Buffer => {
  const total = samplesIn(milliseconds)
  const head = Buffer.alloc(42)
  head.write("fLaC", 0, "latin1")
  head.writeUInt32BE(0x80000022, 4)
  head.writeUInt16BE(flacFrameSamples, 8)
  head.writeUInt16BE(flacFrameSamples, 10)
  // Of 64 bits, the first 20 are the samples per second, 3 the channels and 5 the bits of a sample,
  // each of the last two less 1.
  head.writeUInt32BE(samplesPerSecond * 4096 + 15 * 16 + Math.floor(total / 2 ** 32), 18)
  head.writeUInt32BE(total % 2 ** 32, 22)
  const frames = Array.from({ length: Math.ceil(total / flacFrameSamples) }, (_, number) =>
    flacFrame(number, Math.min(flacFrameSamples, total - number * flacFrameSamples))
  )
  return Buffer.concat([head, ...frames])
}

const makers: Readonly<Record<MadeSound, (milliseconds: number) => Buffer>> = {
  wav: makeWav,
  mp3: (milliseconds) => makeFrames(mp3Frame, mp3FrameSamples, milliseconds),
  opus: makeOggOpus,
  flac: makeFlac,
  aac: (milliseconds) => makeFrames(aacFrame, aacFrameSamples, milliseconds),
  pcm: makePcm
}

/**
 * A playable sound of the given length, from 1 millisecond to an hour: a quiet tone as WAV and PCM
 * (24 kHz, mono, 16 bits, little-endian), and silence in the other formats. Only the length of MP3
 * and AAC differs from the given one, as it is rounded up to whole frames, of 24 and 43 milliseconds.
 */
export const makeSound = (format: MadeSound, milliseconds: number): Uint8Array =>
  makers[format](milliseconds)
