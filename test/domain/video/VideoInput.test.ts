import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { VideoBody } from "../../../src/domain/video/VideoBody.ts"
import {
  countInputs,
  normaliseVideo,
  textOf,
  type VideoBlock
} from "../../../src/domain/video/VideoInput.ts"

const decode = Schema.decodeUnknownSync(VideoBody)
const order = (body: Readonly<Record<string, unknown>>) =>
  normaliseVideo(decode({ model: "film-1", ...body }))
const normalise = (body: Readonly<Record<string, unknown>>) => Result.getOrThrow(order(body))

const one = "https://media.example/1"
const two = "data:image/png;base64,AAAA"
const text = (value: string): VideoBlock => ({ type: "text", text: value })
const image = (url: string): VideoBlock => ({ type: "image", role: null, url })
const audio = (url: string): VideoBlock => ({ type: "audio", url })
const video = (url: string): VideoBlock => ({ type: "video", url })

const mediaFields = [
  ["images", image],
  ["image", image],
  ["image_url", image],
  ["audio", audio],
  ["audio_url", audio],
  ["audios", audio],
  ["video", video],
  ["video_url", video],
  ["videos", video]
] as const

describe.each(mediaFields)("the field %s", (field, block) => {
  it.each([
    ["a URL", one, [one]],
    ["a data URL", two, [two]],
    ["the shortest data URL", "DATA:,", ["DATA:,"]],
    ["an address in capitals", "HTTP://A", ["HTTP://A"]],
    ["an object", { url: one }, [one]],
    ["an array of URLs", [one, two], [one, two]],
    ["an array of objects", [{ url: one }, { url: two }], [one, two]],
    ["a mixed array", [one, { url: two }], [one, two]],
    ["an empty array", [], []],
    ["null", null, []]
  ])("takes %s", (_, value, urls) => {
    const { blocks } = normalise({ prompt: "a cat", [field]: value })
    assert.deepStrictEqual(blocks, [text("a cat"), ...urls.map(block)])
  })

  it.each([
    "cat.png",
    "ftp://media.example/1",
    "file:///etc/passwd",
    "https://media.example/a b",
    "https://",
    "data:image/png;base64",
    "data:image/png ,AAAA",
    "data:,AA AA",
    "data:,AAAA\n",
    "",
    7,
    {},
    { url: "cat.png" },
    [one, "cat.png"],
    [[one]]
  ])("refuses %j", (value) => {
    assert.throws(() => decode({ model: "film-1", [field]: value }), `["${field}"]`)
  })

  it("is enough to make a video from", () => {
    assert.deepStrictEqual(normalise({ [field]: one }).blocks, [block(one)])
  })
})

describe("top-level media", () => {
  it("is lifted in the order image, audio, video, after the prompt", () => {
    const { blocks } = normalise({
      videos: [one],
      audio: one,
      image: { url: one },
      images: two,
      prompt: "a cat"
    })
    assert.deepStrictEqual(blocks, [text("a cat"), image(two), image(one), audio(one), video(one)])
  })

  it("gives way to content", () => {
    const { blocks } = normalise({
      image: two,
      video: two,
      audio: two,
      content: [{ type: "image_url", image_url: one }]
    })
    assert.deepStrictEqual(blocks, [image(one)])
  })
})

describe("content", () => {
  it("is read block by block, in its order", () => {
    const { blocks } = normalise({
      content: [
        { type: "video_url", role: "reference_video", video_url: { url: one } },
        { type: "text", text: "a cat" },
        { type: "audio_url", role: "reference_audio", audio_url: one },
        { type: "image_url", role: "last_frame", image_url: { url: one } },
        { type: "image_url", image_url: two }
      ]
    })
    assert.deepStrictEqual(blocks, [
      video(one),
      text("a cat"),
      audio(one),
      { type: "image", role: "last_frame", url: one },
      image(two)
    ])
  })

  it.each([
    ["has no text", [{ type: "image_url", image_url: one }], [text("a cat"), image(one)]],
    ["has text", [{ type: "text", text: "a dog" }], [text("a dog")]],
    ["is empty", [], [text("a cat")]],
    ["is null", null, [text("a cat"), image(two)]]
  ])("that %s treats the prompt accordingly", (_, content, blocks) => {
    assert.deepStrictEqual(normalise({ prompt: "a cat", image: two, content }).blocks, blocks)
  })

  it.each([
    [{ type: "picture", image_url: one }],
    [{ type: "text" }],
    [{ type: "image_url", role: "reference_video", image_url: one }],
    [{ type: "image_url", image_url: "cat.png" }],
    [{ type: "video_url", role: "first_frame", video_url: one }],
    [{ type: "audio_url", image_url: one }],
    ["a cat"],
    "a cat"
  ])("is refused as %j", (content) => {
    assert.throws(() => decode({ model: "film-1", content }), `["content"]`)
  })
})

describe("body fields and prompt flags", () => {
  const prompt = "a cat --duration 8 --resolution 4K --ratio 1:1"

  it.each([
    [{}, 8, "4K", "1:1"],
    [{ duration: 5 }, 5, "4K", "1:1"],
    [{ resolution: "720p" }, 8, "720p", "1:1"],
    [{ ratio: "16:9" }, 8, "4K", "16:9"],
    [{ duration: -1, resolution: "", ratio: "21:9" }, -1, "", "21:9"],
    [{ duration: null, resolution: null, ratio: null }, 8, "4K", "1:1"]
  ])("of %j and flags make one order", (fields, seconds, resolution, ratio) => {
    assert.deepStrictEqual(normalise({ prompt, ...fields }), {
      blocks: [text("a cat")],
      seconds,
      resolution,
      ratio,
      generateAudio: null,
      parameters: {},
      flagged: []
    })
  })

  it("are read from the text blocks of content too, and leave them", () => {
    const input = normalise({
      content: [
        { type: "text", text: "sea --dur 6" },
        { type: "text", text: "--rs 1080p sky" }
      ]
    })
    assert.deepStrictEqual(input.blocks, [text("sea"), text("sky")])
    assert.deepStrictEqual([input.seconds, input.resolution], [6, "1080p"])
  })

  it.each([
    ["8", 8],
    ["-1", -1],
    ["0", 0],
    ["7.5", "7.5"],
    ["8s", "8s"],
    ["1e1", "1e1"],
    ["9999999999", "9999999999"]
  ])("keep the flag value %s as %j", (written, seconds) => {
    assert.strictEqual(normalise({ prompt: `a cat --duration ${written}` }).seconds, seconds)
  })

  it("keep a flag without a value, so that it can be refused", () => {
    assert.strictEqual(normalise({ prompt: "a cat --duration" }).seconds, "")
  })

  it("say nothing when the client said nothing", () => {
    assert.deepStrictEqual(normalise({ prompt: "a cat" }), {
      blocks: [text("a cat")],
      seconds: null,
      resolution: null,
      ratio: null,
      generateAudio: null,
      parameters: {},
      flagged: []
    })
  })

  it.each([true, false])("keep generate_audio %j", (generateAudio) => {
    const input = normalise({ prompt: "a cat", generate_audio: generateAudio })
    assert.strictEqual(input.generateAudio, generateAudio)
  })
})

describe("a request with nothing to make a video from", () => {
  it.each([
    {},
    { prompt: null },
    { prompt: "" },
    { prompt: " \n " },
    { prompt: "--duration 5 --rs 720p" },
    { images: [] },
    { content: [] },
    { content: [{ type: "text", text: "--dur 5" }], prompt: "a cat" }
  ])("is refused: %j", (body) => {
    const error = Result.getOrThrow(Result.flip(order(body)))
    assert.deepStrictEqual([error._tag, error.param], ["invalid_request", "prompt"])
  })
})

describe("the body", () => {
  it.each([
    ["model", ""],
    ["model", null],
    ["prompt", 7],
    ["duration", 5.5],
    ["duration", "5"],
    ["resolution", 720],
    ["ratio", ""],
    ["generate_audio", "yes"]
  ])("is refused when %s is %j", (field, value) => {
    assert.throws(
      () => decode({ model: "film-1", prompt: "a cat", [field]: value }),
      `["${field}"]`
    )
  })

  it("needs a model", () => {
    assert.throws(() => decode({ prompt: "a cat" }), `["model"]`)
  })

  it("may hold a user and notes, which order nothing", () => {
    const labels = { user: "--duration 15", metadata: { duration: "15", resolution: "4K" } }
    assert.deepStrictEqual(
      normalise({ prompt: "a cat", ...labels }),
      normalise({ prompt: "a cat" })
    )
  })
})

describe("the blocks of an order", () => {
  const blocks = [
    text("a"),
    image(one),
    image(two),
    audio(one),
    text("b"),
    video(one),
    video(two),
    video(one)
  ]

  it("are counted by kind", () => {
    assert.deepStrictEqual(countInputs(blocks), { images: 2, audios: 1, videos: 3 })
    assert.deepStrictEqual(countInputs([]), { images: 0, audios: 0, videos: 0 })
  })

  it("hold at most 100,000 characters of text together", () => {
    const content = [1, 2].map(() => ({ type: "text", text: "x".repeat(50_000) }))
    assert.strictEqual(Result.getOrThrow(Result.flip(order({ content }))).param, "content")
  })

  it("give their texts, joined by line breaks", () => {
    assert.strictEqual(textOf(blocks), "a\nb")
    assert.strictEqual(textOf([image(one)]), "")
  })
})
