import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { VideoBlock } from "../../src/domain/VideoRequest.ts"
import { layerInputVideo } from "../../src/media/InputVideo.ts"
import { videoSeconds } from "../../src/media/videoSeconds.ts"
import { InputVideo } from "../../src/services/InputVideo.ts"
import { loadClip } from "../../src/simulator/media/clip.ts"

const sunset = readFileSync(new URL("../../src/simulator/media/sunset.mp4", import.meta.url))

const box = (type: string, ...parts: ReadonlyArray<Uint8Array>) => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + body.length, 0)
  head.write(type, 4, "latin1")
  return Buffer.concat([head, body])
}
const words = (...values: ReadonlyArray<number>) => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

const brand = box("ftyp", Buffer.from("isom"), words(0))

/** A file of some hundred bytes in which one box claims as many samples as a number can say. */
const endless = Buffer.concat([
  brand,
  box(
    "moov",
    box("trak", box("mdia", box("minf", box("stbl", box("stsz", words(0, 1, 0xffffffff))))))
  )
])

const inline = (bytes: Uint8Array, type = "video/mp4"): VideoBlock => ({
  type: "video",
  url: `data:${type};base64,${Buffer.from(bytes).toString("base64")}`
})
const remote: VideoBlock = { type: "video", url: "https://x.test/v.mp4" }

const known = (...blocks: ReadonlyArray<VideoBlock>) =>
  Effect.flatMap(InputVideo, (videos) => videos.knownSeconds(blocks)).pipe(
    Effect.provide(layerInputVideo)
  )

describe("the length of a video file", () => {
  it("is that of its frames when the header states none", () => {
    assert.strictEqual(videoSeconds(sunset), 16)
  })

  it.effect("is what the header states", () =>
    Effect.gen(function* () {
      const clip = yield* loadClip
      assert.deepStrictEqual(
        [1, 7, 16].map((seconds) => videoSeconds(clip(seconds))),
        [1, 7, 16]
      )
    })
  )

  it.each([
    ["nothing", new Uint8Array()],
    ["a text", Buffer.from("this is no video, whatever it says")],
    ["a picture", Buffer.from("iVBORw0KGgo=", "base64")],
    ["a file that ends in its header", sunset.subarray(0, 300)],
    ["a box that is longer than the file", Buffer.concat([words(0x7fffffff), Buffer.from("moov")])],
    ["a header without its fields", Buffer.concat([brand, box("moov", box("mvhd", words(0)))])],
    [
      "a header of no length",
      Buffer.concat([brand, box("moov", box("mvhd", words(0, 0, 0, 0, 0), Buffer.alloc(80)))])
    ]
  ])("is unknown for %s", (_, bytes) => {
    assert.isNull(videoSeconds(bytes))
  })

  it("is unknown when it is not plausible", () => {
    const stated = (seconds: number) =>
      Buffer.concat([brand, box("moov", box("mvhd", words(0, 0, 0, 1, seconds), Buffer.alloc(80)))])
    assert.strictEqual(videoSeconds(stated(3600)), 3600)
    assert.isNull(videoSeconds(stated(3601)))
  })
})

describe("the known seconds of an order's videos", () => {
  it.live("add up the inline ones that can be read", () =>
    Effect.gen(function* () {
      const clip = yield* loadClip
      const broken = inline(Buffer.from("no video"))
      assert.strictEqual(yield* known(inline(clip(7))), 7)
      assert.strictEqual(yield* known(inline(clip(7)), remote, inline(clip(5)), broken), 12)
      assert.strictEqual(yield* known(inline(clip(3), "VIDEO/QuickTime;codecs=avc1")), 3)
    })
  )

  it.live.each<readonly [says: string, blocks: ReadonlyArray<VideoBlock>]>([
    ["no videos", [{ type: "text", text: "data:video/mp4;base64,AAAA" }]],
    ["remote ones", [remote, remote]],
    ["broken ones", [inline(Buffer.from("no video"))]],
    ["one that is not base64", [{ type: "video", url: "data:video/mp4,%00%00" }]],
    ["an image", [{ type: "image", role: "reference_image", url: "data:image/png;base64,AAAA" }]]
  ])("are unknown for %s", ([, blocks]) =>
    Effect.gen(function* () {
      assert.isNull(yield* known(...blocks))
    })
  )

  it.live("a file that claims endless frames is unknown, and the gateway goes on meanwhile", () =>
    Effect.gen(function* () {
      let ticks = 0
      const ticking = setInterval(() => ticks++, 10)
      const started = performance.now()
      assert.isNull(yield* known(inline(endless)))
      clearInterval(ticking)
      assert.isBelow(performance.now() - started, 10_000)
      assert.isAbove(ticks, 1)
    })
  )
})
