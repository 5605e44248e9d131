import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { send } from "./support.ts"

interface Box {
  readonly type: string
  readonly content: Buffer
}

const boxes = (bytes: Buffer): ReadonlyArray<Box> => {
  const found: Array<Box> = []
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at)
    assert.isTrue(size >= 8 && at + size <= bytes.length)
    found.push({
      type: bytes.toString("latin1", at + 4, at + 8),
      content: bytes.subarray(at + 8, at + size)
    })
    at += size
  }
  return found
}

const inside = (bytes: Buffer, ...path: ReadonlyArray<string>): Buffer =>
  path.reduce((content, type) => {
    const box = boxes(content).find((one) => one.type === type)
    return box === undefined ? assert.fail(`no ${type}`) : box.content
  }, bytes)

const video = (seconds: number | string) => `/media/videos/${seconds}/cgt-1.mp4?Expires=1`

layer(layerSimulator({ port: 0 }))("media", (it) => {
  it.effect.each([1, 5, 16, 30])(
    "a video of %i seconds has as many fragments and says so",
    (seconds) =>
      Effect.gen(function* () {
        const answer = yield* send("GET", video(seconds), { authorization: null })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers.get("content-type"), "video/mp4")
        assert.strictEqual(answer.headers.get("accept-ranges"), "bytes")
        assert.strictEqual(answer.headers.get("content-length"), String(answer.bytes.length))

        const file = Buffer.from(answer.bytes)
        assert.deepStrictEqual(
          boxes(file).map(({ type }) => type),
          ["ftyp", "moov", ...Array.from({ length: seconds }, () => ["moof", "mdat"]).flat()]
        )
        const movie = inside(file, "moov", "mvhd")
        const movieUnits = seconds * movie.readUInt32BE(12)
        const media = inside(file, "moov", "trak", "mdia", "mdhd")
        const mediaScale = media.readUInt32BE(12)
        assert.strictEqual(movie.readUInt32BE(16), movieUnits)
        assert.strictEqual(inside(file, "moov", "trak", "tkhd").readUInt32BE(20), movieUnits)
        assert.strictEqual(media.readUInt32BE(16), seconds * mediaScale)
        assert.strictEqual(inside(file, "moov", "mvex", "mehd").readUInt32BE(4), movieUnits)
        assert.include(
          inside(file, "moov", "trak", "mdia", "minf", "stbl", "stsd").toString("latin1"),
          "avc1"
        )

        const starts = boxes(file)
          .filter(({ type }) => type === "moof")
          .map(({ content }) => {
            const time = inside(content, "traf", "tfdt")
            return time[0] === 1 ? Number(time.readBigUInt64BE(4)) : time.readUInt32BE(4)
          })
        assert.deepStrictEqual(
          starts,
          Array.from({ length: seconds }, (_, index) => index * mediaScale)
        )
      })
  )

  it.effect.each([
    ["bytes=0-99", 0, 100],
    ["bytes=1000-", 1000, undefined],
    ["bytes=-50", -50, undefined],
    ["bytes=0-999999999", 0, undefined]
  ] as const)("the range %s is that part of the file", ([range, start, end]) =>
    Effect.gen(function* () {
      const { bytes } = yield* send("GET", video(3))
      const part = yield* send("GET", video(3), { headers: { range } })
      const from = start < 0 ? bytes.length + start : start
      const to = end ?? bytes.length
      assert.strictEqual(part.status, 206)
      assert.strictEqual(
        part.headers.get("content-range"),
        `bytes ${from}-${to - 1}/${bytes.length}`
      )
      assert.deepStrictEqual(part.bytes, bytes.slice(start, end))
    })
  )

  it.effect.each(["bytes=999999999-", "bytes=-0", "bytes=9-3"])(
    "the range %s cannot be served",
    (range) =>
      Effect.gen(function* () {
        const answer = yield* send("GET", video(3), { headers: { range } })
        assert.strictEqual(answer.status, 416)
        assert.match(answer.headers.get("content-range") ?? "", /^bytes \*\/\d+$/)
      })
  )

  it.effect("a HEAD request tells the length without the file", () =>
    Effect.gen(function* () {
      const { bytes } = yield* send("GET", video(2))
      const head = yield* send("HEAD", video(2))
      assert.strictEqual(head.headers.get("content-length"), String(bytes.length))
      assert.lengthOf(head.bytes, 0)
    })
  )

  it.effect.each([
    video(0),
    video(149),
    video("x"),
    "/media/images/0x5/a.png",
    "/media/images/4097x5/a.png",
    "/media/images/5/a.png"
  ])("%s is not there", (path) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* send("GET", path)).status, 404)
    })
  )

  it.effect("a marked video is another file of the same length", () =>
    Effect.gen(function* () {
      const plain = yield* send("GET", video(3))
      const marked = yield* send("GET", "/media/videos/3/cgt-1.watermarked.mp4?Expires=1")
      assert.strictEqual(marked.status, 200)
      assert.deepStrictEqual(
        boxes(Buffer.from(marked.bytes)).map(({ type }) => type),
        [...boxes(Buffer.from(plain.bytes)).map(({ type }) => type), "free"]
      )
      assert.strictEqual(inside(Buffer.from(marked.bytes), "free").toString(), "watermark")
    })
  )

  it.effect("a picture depends on its address only", () =>
    Effect.gen(function* () {
      const path = (name: string) => `/media/images/120x80/${name}.png`
      const first = yield* send("GET", path("a"))
      assert.deepStrictEqual((yield* send("GET", path("a"))).bytes, first.bytes)
      assert.notDeepEqual((yield* send("GET", path("b"))).bytes, first.bytes)
    })
  )
})
