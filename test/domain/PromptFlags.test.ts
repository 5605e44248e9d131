import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { takeFlags } from "../../src/domain/PromptFlags.ts"

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string }

const text = (value: string): Block => ({ type: "text", text: value })
const image: Block = { type: "image", url: "https://pictures.example/1.png" }
const take = (...blocks: ReadonlyArray<Block>) => takeFlags(blocks)
const none = { duration: null, resolution: null, ratio: null }

describe("a flag in the text", () => {
  it.each([
    ["a cat --duration 8", "a cat", { duration: "8" }],
    ["a cat --duration=8", "a cat", { duration: "8" }],
    ["a cat --duration = 8", "a cat", { duration: "8" }],
    ["a cat --duration\t8", "a cat", { duration: "8" }],
    ["a cat --dur 8", "a cat", { duration: "8" }],
    ["a cat --duration -1", "a cat", { duration: "-1" }],
    ["a cat --duration=-1", "a cat", { duration: "-1" }],
    ["--resolution 1080p a cat", "a cat", { resolution: "1080p" }],
    ["a --rs 4K cat", "a cat", { resolution: "4K" }],
    ["a cat --ratio 16:9", "a cat", { ratio: "16:9" }],
    ["a cat --rt=9:16", "a cat", { ratio: "9:16" }],
    ["a cat --DURATION 8 --Rs 720P", "a cat", { duration: "8", resolution: "720P" }],
    ["--dur 8 --rs 4K sea --rt 1:1", "sea", { duration: "8", resolution: "4K", ratio: "1:1" }],
    ["dawn\n--duration 8\ndusk", "dawn\ndusk", { duration: "8" }],
    ["--duration=--resolution 1080p cat", "cat", { duration: "", resolution: "1080p" }],
    ["cat --duration = 8 sat", "cat sat", { duration: "8" }],
    ["a cat --duration eight", "a cat", { duration: "eight" }]
  ])("is read and taken out of %j", (written, left, flags) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(left)], ...none, ...flags })
  })

  it.each([
    ["a cat --duration", { duration: "" }],
    ["a cat --duration=", { duration: "" }],
    ["a cat --duration --rs 720p", { duration: "", resolution: "720p" }],
    ["a cat --dur --rs --rt", { duration: "", resolution: "", ratio: "" }]
  ])("without a value is told apart from no flag in %j", (written, flags) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text("a cat")], ...none, ...flags })
  })

  it.each([
    ["sea --duration 5 and sky --duration 9", "sea and sky", { duration: "9" }],
    ["sea --dur 5 --duration=9 --dur 7", "sea", { duration: "7" }],
    ["sea --rs 4K --resolution", "sea", { resolution: "" }]
  ])("gives way to a later one of the same meaning in %j", (written, left, flags) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(left)], ...none, ...flags })
  })

  it.each([
    "a cat",
    "a cat -duration 8",
    "a cat --durations 8",
    "a cat --fps 24",
    "duration 8, resolution 4K",
    "well--duration 8"
  ])("is not seen in %j", (written) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(written)], ...none })
  })
})

describe("the blocks of a request", () => {
  it("lose the flags of every text, and the last text wins", () => {
    assert.deepStrictEqual(take(text("sea --dur 5"), image, text("--rs 4K sky --dur 9")), {
      blocks: [text("sea"), image, text("sky")],
      ...none,
      duration: "9",
      resolution: "4K"
    })
  })

  it("lose a text that held nothing but flags", () => {
    assert.deepStrictEqual(take(text("--dur 5"), image, text("  ")), {
      blocks: [image],
      ...none,
      duration: "5"
    })
  })

  it("keep media untouched, also when an address looks like a flag", () => {
    const odd: Block = { type: "image", url: "https://pictures.example/ --duration 8" }
    assert.deepStrictEqual(take(odd), { blocks: [odd], ...none })
  })
})

const word = Schema.Literals([
  "--duration",
  "--dur=7",
  "--DUR",
  "--resolution",
  "--rs=4K",
  "--ratio=",
  "--rt",
  "=",
  "8",
  "-1",
  "cat",
  "--fps",
  "\n"
])
const words = Arbitrary.schema(Schema.Array(word).check(Schema.isMaxLength(12)))

describe("whatever words a text is made of", () => {
  it.prop("no flag stays in it", [words], ([written]) => {
    for (const block of take(text(written.join(" "))).blocks) {
      assert.notMatch(
        block.type === "text" ? block.text : "",
        /(^|\s)--(duration|dur|resolution|rs|ratio|rt)(\s|=|$)/i
      )
    }
  })

  it.prop("taking the flags out again changes nothing", [words], ([written]) => {
    const { blocks } = take(text(written.join(" ")))
    assert.deepStrictEqual(take(...blocks), { blocks, ...none })
  })
})
