import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { measureLengths, videoSeconds } from "../../../../src/domain/video/length/knownSeconds.ts"
import type { VideoBlock } from "../../../../src/domain/video/VideoInput.ts"
import { loadClip } from "../../../../src/simulator/media/clip.ts"
import { bigEndian, box, brand, endless, inline, words } from "../../../support/videoFiles.ts"

const sunset = readFileSync(new URL("../../../../src/simulator/media/sunset.mp4", import.meta.url))

const video = (bytes: Uint8Array, type?: string): VideoBlock => ({
  type: "video",
  url: inline(bytes, type)
})
const remote: VideoBlock = { type: "video", url: "https://x.test/v.mp4" }

const knownSeconds = (blocks: ReadonlyArray<VideoBlock>) => measureLengths(blocks).seconds
const secondsOf = (bytes: Uint8Array) => knownSeconds([video(bytes)])

/** A movie whose header states its units in a second and its length. */
const header = (unitsPerSecond: number, units: number) =>
  box("mvhd", words(0, 0, 0, unitsPerSecond, units), Buffer.alloc(80))

/** A track of 1000 units a second whose header states its length. */
const statedTrack = (id: number, units: number, ...frameTables: ReadonlyArray<Uint8Array>) =>
  box(
    "trak",
    box("tkhd", words(0, 0, 0, id, 0, 0)),
    box(
      "mdia",
      box("mdhd", words(0, 0, 0, 1000, units, 0)),
      box("minf", box("stbl", ...frameTables))
    )
  )

/** One whose header states none. */
const track = (id: number, ...frameTables: ReadonlyArray<Uint8Array>) =>
  statedTrack(id, 0, ...frameTables)

const fragment = (id: number, ...runs: ReadonlyArray<Uint8Array>) =>
  box("moof", box("mfhd", words(0, 1)), box("traf", box("tfhd", words(0, id)), ...runs))

const frameUnits = (id: number, units: number) =>
  box("mvex", box("trex", words(0, id, 1, units, 0, 0)))

/** An element of WebM whose size is told in 8 bytes; `null` for a size that is not known. */
const element = (id: string, body: Uint8Array, isSizeKnown = true) => {
  const size = isSizeKnown ? Buffer.alloc(8) : Buffer.alloc(8, 0xff)
  if (isSizeKnown) size.writeBigUInt64BE(BigInt(body.length))
  size[0] = 1
  return Buffer.concat([Buffer.from(id, "hex"), size, body])
}
const float = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}
const block = (ticks: number) =>
  element("a3", Buffer.concat([Buffer.from([0x81]), bigEndian(ticks, 2), Buffer.alloc(20)]))
const cluster = (ticks: number, ...blocks: ReadonlyArray<Uint8Array>) =>
  element("1f43b675", Buffer.concat([element("e7", bigEndian(ticks, 4)), ...blocks]), false)
const webm = (...parts: ReadonlyArray<Uint8Array>) =>
  Buffer.concat([
    element("1a45dfa3", element("4282", Buffer.from("webm"))),
    element("18538067", Buffer.concat(parts), false)
  ])
const info = (...parts: ReadonlyArray<Uint8Array>) => element("1549a966", Buffer.concat(parts))

describe("the length of an inline video", () => {
  it.effect("is what the header of an MP4 file states", () =>
    Effect.gen(function* () {
      const clip = yield* loadClip
      assert.deepStrictEqual(
        [1, 7, 16].map((seconds) => secondsOf(clip(seconds))),
        [1, 7, 16]
      )
    })
  )

  it.each<readonly [says: string, bytes: Uint8Array, seconds: number]>([
    ["the frames of its fragments", sunset, 16],
    [
      "a header in the long form",
      Buffer.concat([
        brand,
        box("moov", box("mvhd", words(0x01000000, 0, 0, 0, 0, 90_000, 0, 630_000)))
      ]),
      7
    ],
    [
      "a header behind what was filmed",
      Buffer.concat([brand, box("mdat", Buffer.alloc(5000)), box("moov", header(600, 4200))]),
      7
    ],
    [
      "a header behind a box of the long form",
      Buffer.concat([
        brand,
        Buffer.concat([words(1), Buffer.from("mdat"), words(0, 20), Buffer.alloc(4)]),
        box("moov", header(600, 4200))
      ]),
      7
    ],
    [
      "the table of its frames, whose header says that it does not know",
      Buffer.concat([
        brand,
        box(
          "moov",
          header(10_000_000, 0xffffffff),
          track(1, box("stts", words(0, 2, 100, 40, 50, 60))),
          track(2, box("stts", words(0, 1, 6, 1000)))
        )
      ]),
      7
    ],
    [
      "runs of frames with a length of their own, beside other fields",
      Buffer.concat([
        brand,
        box("moov", header(1000, 0), track(1), frameUnits(1, 1)),
        fragment(1, box("trun", words(0x305, 2, 99, 99, 3000, 99, 2000, 99))),
        fragment(1, box("trun", words(0x100, 1, 2000)))
      ]),
      7
    ],
    [
      "runs of frames that have the length their fragment or movie tells",
      Buffer.concat([
        brand,
        box("moov", header(1000, 0), track(1), frameUnits(1, 1000)),
        fragment(1, box("trun", words(0, 3))),
        box(
          "moof",
          box("traf", box("tfhd", words(0xb, 1, 0, 0, 9, 2000)), box("trun", words(0, 2)))
        )
      ]),
      7
    ],
    [
      "the frames of its header and its fragments, where the header is of the first",
      Buffer.concat([
        brand,
        box(
          "moov",
          header(1000, 2000),
          statedTrack(1, 2000, box("stts", words(0, 1, 2, 1000))),
          frameUnits(1, 1000)
        ),
        ...Array.from({ length: 29 }, () => fragment(1, box("trun", words(0, 2))))
      ]),
      60
    ],
    [
      "frames whose length is told in the second of such parts",
      Buffer.concat([
        brand,
        box("moov", header(1000, 0), track(1), box("mvex"), frameUnits(1, 1000)),
        fragment(1, box("trun", words(0, 2)))
      ]),
      2
    ],
    ["what a WebM file states", webm(info(element("4489", float(7000)))), 7],
    [
      "what a WebM file states in a scale of its own",
      webm(info(element("4489", float(700)), element("2ad7b1", bigEndian(10_000_000, 4)))),
      7
    ],
    [
      "the last block of a WebM file that was recorded live",
      webm(
        info(element("2ad7b1", bigEndian(1_000_000, 4))),
        cluster(0, block(0), block(4000)),
        cluster(5000, block(0), element("a0", element("a1", Buffer.from([0x81, 0x07, 0xd0, 0]))))
      ),
      7
    ]
  ])("is that of %s", (_, bytes, seconds) => {
    assert.strictEqual(secondsOf(bytes), seconds)
  })

  it.each<readonly [says: string, bytes: Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["a text", Buffer.from("this is no video, whatever it says")],
    ["a picture", Buffer.from("iVBORw0KGgo=", "base64")],
    ["a file that ends in its header", sunset.subarray(0, 300)],
    ["a box that is longer than the file", Buffer.concat([words(0x7fffffff), Buffer.from("moov")])],
    ["a header without its fields", Buffer.concat([brand, box("moov", box("mvhd", words(0)))])],
    ["a header of no length", Buffer.concat([brand, box("moov", header(0, 0))])],
    ["a length without its scale", Buffer.concat([brand, box("moov", header(0, 7000))])],
    ["a table that claims endless frames", endless.table],
    ["a fragment that claims endless frames", endless.fragment],
    [
      "fragments that are shorter than their header says",
      Buffer.concat([
        brand,
        box(
          "moov",
          header(1000, 0),
          track(1),
          box("mvex", box("mehd", words(0, 7000)), box("trex", words(0, 1, 1, 1000, 0, 0)))
        ),
        fragment(1, box("trun", words(0, 2)))
      ])
    ],
    [
      "two headers of fragments that differ",
      Buffer.concat([
        brand,
        box(
          "moov",
          header(1000, 0),
          track(1),
          box("mvex", box("mehd", words(0, 7000))),
          box("mvex", box("mehd", words(0, 1000))),
          frameUnits(1, 1000)
        ),
        fragment(1, box("trun", words(0, 2)))
      ])
    ],
    [
      "a header of the movie that states less than its track",
      Buffer.concat([brand, box("moov", header(1000, 1), statedTrack(1, 60_000), track(2))])
    ],
    [
      "a header of the movie that states less than the frames",
      Buffer.concat([
        brand,
        box("moov", header(1000, 1), track(1, box("stts", words(0, 1, 60, 1000))))
      ])
    ],
    ["a WebM file of no length", webm(info(element("4489", float(Number.NaN))))],
    ["a WebM file that ends in its header", webm().subarray(0, 9)]
  ])("is unknown for %s", (_, bytes) => {
    assert.isNull(secondsOf(bytes))
  })

  it("is unknown when it is not plausible", () => {
    const stated = (seconds: number) => Buffer.concat([brand, box("moov", header(1, seconds))])
    assert.strictEqual(secondsOf(stated(3600)), 3600)
    assert.isNull(secondsOf(stated(3601)))
  })

  it("is unknown, not shorter, when it would need more than the bounds", () => {
    const bounds = { reads: 1000, bytes: 100_000 }
    const run = box("trun", words(0x100, 1, 40))
    const file = (fragments: number) =>
      Buffer.concat([
        brand,
        box("moov", header(1000, 0), track(1)),
        ...Array.from({ length: fragments }, () => fragment(1, run))
      ])
    assert.strictEqual(videoSeconds(inline(file(25)), { ...bounds }), 1)
    assert.isNull(videoSeconds(inline(file(500)), { ...bounds }))
    assert.isNull(videoSeconds(inline(file(25)), { ...bounds, bytes: 500 }))
  })

  it.prop(
    "comes of any file with some of its bytes changed, within the bounds and without a failure",
    [
      Schema.Array(
        Schema.Struct({
          at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3000 })),
          word: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffffffff }))
        })
      ).check(Schema.isMaxLength(8)),
      Schema.Literals(["mp4", "webm"])
    ],
    ([changes, kind]) => {
      const bounds = { reads: 500, bytes: 20_000 }
      const bytes = Buffer.from(
        kind === "mp4"
          ? sunset
          : webm(info(element("4489", float(7000))), cluster(0, ...Array(90).fill(block(9))))
      )
      for (const { at, word } of changes) bytes.writeUInt32BE(word, at % (bytes.length - 4))
      const seconds = videoSeconds(inline(bytes), bounds)
      if (seconds !== null) assert.isTrue(seconds > 0 && seconds <= 3600)
      assert.isAtLeast(bounds.reads, 0)
      assert.isAtLeast(bounds.bytes, 0)
    }
  )
})

describe("the known seconds of an order's videos", () => {
  it.effect("add up the inline ones that can be read", () =>
    Effect.gen(function* () {
      const clip = yield* loadClip
      const broken = video(Buffer.from("no video"))
      assert.strictEqual(knownSeconds([video(clip(7))]), 7)
      assert.strictEqual(knownSeconds([video(clip(7)), remote, video(clip(5)), broken]), 12)
      assert.strictEqual(knownSeconds([video(clip(3), "VIDEO/QuickTime;codecs=avc1")]), 3)
    })
  )

  it.effect("are all of them only where each can be read", () =>
    Effect.gen(function* () {
      const clip = yield* loadClip
      const broken = video(Buffer.from("no video"))
      const files = new Map([
        ["file_1", 3],
        ["file_2", null]
      ])
      const isUnknown = (...blocks: ReadonlyArray<VideoBlock>) =>
        measureLengths(blocks, files).hasUnknown
      const file = (url: string): VideoBlock => ({ type: "video", url })
      assert.isFalse(isUnknown(video(clip(7)), file("file_1")))
      for (const unknown of [remote, broken, file("file_2"), file("file_3")]) {
        assert.isTrue(isUnknown(video(clip(7)), unknown))
        assert.isTrue(isUnknown(unknown))
      }
      assert.isFalse(isUnknown({ type: "text", text: "a film" }))
    })
  )

  it.each<readonly [says: string, blocks: ReadonlyArray<VideoBlock>]>([
    ["no videos", [{ type: "text", text: "data:video/mp4;base64,AAAA" }]],
    ["remote ones", [remote, remote]],
    ["broken ones", [video(Buffer.from("no video"))]],
    ["one that is not base64", [{ type: "video", url: "data:video/mp4,%00%00" }]],
    ["an image", [{ type: "image", role: "reference_image", url: "data:image/png;base64,AAAA" }]]
  ])("are unknown for %s", (_, blocks) => {
    assert.isNull(knownSeconds(blocks))
  })
})
