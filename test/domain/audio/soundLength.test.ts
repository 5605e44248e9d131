import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { soundFormats, soundLength } from "../../../src/domain/audio/soundLength.ts"
import { lies, type SoundOrder, soundMakers } from "../../support/sounds.ts"
import { box, words } from "../../support/videoFiles.ts"

const wholeNumber = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Sounds of 2 to 20 seconds: a frame is less than 2 % of them. */
const order = {
  milliseconds: wholeNumber(2000, 20_000),
  lie: Schema.Literals(lies),
  variant: wholeNumber(0, 63)
}
const share = wholeNumber(0, 1000)

const latin = (text: string): Buffer => Buffer.from(text, "latin1")

const lengthOf = (bytes: Uint8Array): number => soundLength(bytes)?.milliseconds ?? 0

describe.each(soundFormats)("a sound of the format %s", (format) => {
  const make = (wanted: SoundOrder) => soundMakers[format](wanted)

  it.prop(
    "that is honest has its length, to 2 percent",
    [order.milliseconds, order.variant],
    ([milliseconds, variant]) => {
      const sound = make({ milliseconds, variant, lie: "none" })
      const length = soundLength(sound.bytes)
      assert.strictEqual(length?.format, format)
      assert.isAtLeast(lengthOf(sound.bytes), sound.milliseconds * 0.98)
      assert.isAtMost(lengthOf(sound.bytes), sound.milliseconds * 1.02)
    },
    { arbitrary: { runs: 60 } }
  )

  it.prop(
    "is never shorter than its content, whatever its headers declare",
    [order.milliseconds, order.lie, order.variant],
    ([milliseconds, lie, variant]) => {
      const sound = make({ milliseconds, lie, variant })
      const length = soundLength(sound.bytes)
      assert.strictEqual(length?.format, format)
      assert.isAtLeast(lengthOf(sound.bytes), sound.milliseconds * 0.98)
    },
    { arbitrary: { runs: 100 } }
  )

  it.prop(
    "that was cut is never shorter than the rest",
    [order.milliseconds, order.lie, order.variant, share],
    ([milliseconds, lie, variant, part]) => {
      const sound = make({ milliseconds, lie, variant })
      const size = Math.floor((sound.bytes.length * part) / 1000)
      const length = lengthOf(sound.bytes.subarray(0, size))
      assert.isAtLeast(length, sound.millisecondsIn(size) * 0.98)
    },
    { arbitrary: { runs: 100 } }
  )

  it.prop(
    "with changed bytes has a length or none",
    [order.variant, Schema.Array(Schema.Tuple([share, wholeNumber(0, 255)]))],
    ([variant, changes]) => {
      const { bytes } = make({ milliseconds: 2000, lie: "none", variant })
      for (const [part, byte] of changes) {
        // Half of the changes are among the headers.
        const range = byte % 2 === 0 ? bytes.length : Math.min(bytes.length, 400)
        bytes[Math.floor((range * part) / 1001)] = byte
      }
      const length = soundLength(bytes)
      if (length === null) return
      assert.isTrue(Number.isInteger(length.milliseconds))
      assert.isAtLeast(length.milliseconds, 1)
      assert.isAtMost(length.milliseconds, 24 * 3600 * 1000)
    },
    { arbitrary: { runs: 300 } }
  )
})

/** A WAVE file of 1000 bytes per second whose `data` chunk states a size. */
const wave = (statedBytes: number, content: Buffer): Buffer => {
  const bytes = Buffer.concat([
    latin("RIFF0000WAVEfmt \x10\0\0\0\x01\0\x01\0\xe8\x03\0\0\xe8\x03\0\0\x01\0\x08\0data0000"),
    content
  ])
  bytes.writeUInt32LE(statedBytes, 40)
  return bytes
}

describe("a WAVE file", () => {
  const chunks = Buffer.concat([latin("LIST\xf0\x03\0\0"), Buffer.alloc(1008, 0x41)])

  it("ends before the chunks that follow its data", () => {
    assert.strictEqual(lengthOf(wave(500, Buffer.concat([Buffer.alloc(500), chunks]))), 500)
  })

  it("without a size of its data has all that follows, even if it looks like chunks", () => {
    assert.strictEqual(lengthOf(wave(0, chunks)), 1016)
    assert.strictEqual(lengthOf(wave(0xffffffff, chunks)), 1016)
  })
})

describe("a fragment of MP4", () => {
  it("without times of its samples has those of the movie", () => {
    const media = box("mdia", box("mdhd", words(0, 0, 0, 1000, 0)))
    const track = box("trak", box("tkhd", words(0, 0, 0, 1)), media)
    const movie = box("moov", track, box("mvex", box("trex", words(0, 1, 1, 20, 0, 0))))
    const run = box("traf", box("tfhd", words(0, 1)), box("trun", words(0, 100)))
    assert.strictEqual(lengthOf(Buffer.concat([movie, box("moof", run)])), 2000)
  })
})

describe("a length", () => {
  it("is at most 24 hours", () => {
    assert.strictEqual(lengthOf(box("moov", box("mvhd", words(0, 0, 0, 1, 90_000)))), 86_400_000)
  })
})

describe("bytes that are no sound", () => {
  it.each(["", "R", "RIFF", "fLaC", "OggS", "ID3", "\x1a\x45\xdf\xa3", "\0\0\0\x08ftyp", "Hello!"])(
    "such as %j have no length",
    (text) => {
      assert.isNull(soundLength(latin(text)))
    }
  )

  it.prop(
    "are read to their end",
    [
      Schema.Literals(["", "RIFF0000WAVE", "fLaC", "OggS", "ID3", "\x1aE\xdf\xa3\x80", "0000ftyp"]),
      Schema.Array(wholeNumber(0, 255))
    ],
    ([start, bytes]) => {
      soundLength(Buffer.concat([latin(start), Buffer.from(bytes)]))
    },
    { arbitrary: { runs: 500, size: 400 } }
  )
})

const fileBytes = 25 * 1024 * 1024

/** A file of the largest size: a start, and then the same bytes again and again. */
const repeated = (start: Buffer, unit: Buffer): Buffer => {
  const bytes = Buffer.alloc(fileBytes)
  start.copy(bytes)
  return bytes.fill(unit, start.length)
}

const oggHead = (flags: string, segments: string) =>
  latin(`OggS\0${flags}${"\0".repeat(20)}${segments}`)
const opusStart = latin(
  `${oggHead("\x02", "\x01\x13").toString("latin1")}OpusHead\x01\x01${"\0".repeat(9)}`
)
const mp3Frame = latin(`\xff\xfb\x90\x00${"\0".repeat(413)}`)
const flacStart = Buffer.concat([latin("fLaC\0\0\0\x22"), Buffer.alloc(34, 0x10)])
const webmStart = latin("\x1a\x45\xdf\xa3\x80")
const open = (type: string) => Buffer.concat([words(0), latin(type)])

describe("25 MB of hostile bytes", () => {
  it.each<readonly [name: string, start: Buffer, unit: Buffer]>([
    ["the same byte", Buffer.alloc(0), Buffer.from([0xff])],
    ["heads of MP3 without an end", Buffer.concat([mp3Frame, mp3Frame]), latin("\xff\xfb\0\0")],
    ["chunks of data", latin("RIFF0000WAVE"), latin("data\x01\0\0\0ab")],
    ["empty chunks", latin("RIFF0000WAVE"), latin("LIST\0\0\0\0")],
    ["the start of a FLAC frame", flacStart, latin("\xff\xf8\xc9\x08")],
    ["pages within pages", opusStart, oggHead("\0", "\xff")],
    ["pages of the least size", opusStart, oggHead("\0", "\0")],
    ["streams of Ogg", oggHead("\x02", "\0"), oggHead("\x02", "\0OpusHead")],
    ["almost the start of a page", latin("OggS"), latin("OggOgg")],
    ["empty elements", webmStart, latin("\xec\x80")],
    ["clusters that are none", webmStart, latin("\x1f\x43\xb6\x75\0")],
    ["tracks of Matroska", webmStart, latin("\xae\x80\xd7\x81\x01")],
    ["blocks of 256 frames", webmStart, latin("\xa3\x87\x81\0\0\x02\xff\xff\xff")],
    ["empty boxes", box("ftyp"), box("free")],
    ["boxes in boxes", Buffer.alloc(0), open("moov")],
    ["times of samples", Buffer.concat([open("moov"), open("stts"), words(0, -1 >>> 0)]), words(1)],
    ["empty descriptions", open("moov"), box("stsd")],
    ["runs", Buffer.concat([open("moof"), open("traf")]), box("trun", words(0x100, 1, 5))]
  ])("are read: %s", (_, start, unit) => {
    const length = soundLength(repeated(start, unit))
    assert.isTrue(length === null || length.milliseconds <= 24 * 3600 * 1000)
  })

  it("have no length if they are more streams, or more tracks, than a reader has", () => {
    const end = latin(`OggS\0\0\0\0\x10${"\0".repeat(18)}`)
    assert.isAtLeast(lengthOf(Buffer.concat([opusStart, end])), 20_000)
    assert.isNull(soundLength(repeated(opusStart, Buffer.concat([opusStart, end]))))
    const headers = Array.from({ length: 2000 }, (_, id) => box("tkhd", words(0, 0, 0, id)))
    const header = box("mvhd", words(0, 0, 0, 1000, 5000))
    assert.strictEqual(lengthOf(box("moov", header)), 5000)
    assert.isNull(soundLength(box("moov", header, ...headers)))
  })
})
