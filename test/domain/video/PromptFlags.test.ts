import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { takeFlags } from "../../../src/domain/video/PromptFlags.ts"
import { flagsIn } from "../../support/flagReader.ts"

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string }

const text = (value: string): Block => ({ type: "text", text: value })
const image: Block = { type: "image", url: "https://pictures.example/1.png" }
const take = (...blocks: ReadonlyArray<Block>) => Result.getOrThrow(takeFlags(blocks))

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
    ["a cat --aspect-ratio 1:1", "a cat", { ratio: "1:1" }],
    ["a cat --DURATION 8 --Rs 720P", "a cat", { duration: "8", resolution: "720P" }],
    ["--dur 8 --rs 4K sea --rt 1:1", "sea", { duration: "8", resolution: "4K", ratio: "1:1" }],
    ["dawn\n--duration 8\ndusk", "dawn\ndusk", { duration: "8" }],
    ["--duration=--resolution 1080p cat", "cat", { duration: "", resolution: "1080p" }],
    ["cat --duration = 8 sat", "cat sat", { duration: "8" }],
    ["a cat --duration eight", "a cat", { duration: "eight" }],
    [
      "a cat --seed 7 --cf true --wm=false",
      "a cat",
      { seed: "7", camera_fixed: "true", watermark: "false" }
    ],
    ["a cat --generate_audio false", "a cat", { generateAudio: "false" }]
  ])("is read and taken out of %j", (written, left, flagValues) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(left)], flagValues })
  })

  it.each([
    ["a cat --duration", { duration: "" }],
    ["a cat --duration=", { duration: "" }],
    ["a cat --duration --rs 720p", { duration: "", resolution: "720p" }],
    ["a cat --dur --rs --rt", { duration: "", resolution: "", ratio: "" }]
  ])("without a value is told apart from no flag in %j", (written, flagValues) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text("a cat")], flagValues })
  })

  it.each([
    ["sea --duration 5 and sky --duration 9", "sea and sky", { duration: "9" }],
    ["sea --dur 5 --duration=9 --dur 7", "sea", { duration: "7" }],
    ["sea --rs 4K --resolution", "sea", { resolution: "" }]
  ])("gives way to a later one of the same meaning in %j", (written, left, flagValues) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(left)], flagValues })
  })

  it.each([
    "a cat",
    "a cat -duration 8",
    "a cat --durations 8",
    "a cat --bystander 24",
    "duration 8, resolution 4K",
    "well--duration 8",
    "well--known",
    "x--dur 15",
    "7--dur 15",
    "---dur 15",
    "a light—ratio of gold to grey",
    "黄昏——镜头推进",
    "a slow pan -- seed pods in the wind",
    "--duration_of_day",
    "--d--dur 5ur 15"
  ])("is not seen in %j", (written) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(written)], flagValues: {} })
  })
})

describe("the blocks of a request", () => {
  it("lose the flags of every text, and the last text wins", () => {
    assert.deepStrictEqual(take(text("sea --dur 5"), image, text("--rs 4K sky --dur 9")), {
      blocks: [text("sea"), image, text("sky")],
      flagValues: { duration: "9", resolution: "4K" }
    })
  })

  it("lose a text that held nothing but flags", () => {
    assert.deepStrictEqual(take(text("--dur 5"), image, text("  ")), {
      blocks: [image],
      flagValues: { duration: "5" }
    })
  })

  it("keep media untouched, also when an address looks like a flag", () => {
    const odd: Block = { type: "image", url: "https://pictures.example/ --duration 8" }
    assert.deepStrictEqual(take(odd), { blocks: [odd], flagValues: {} })
  })
})

const piece = Schema.Literals([
  "--duration",
  "--dur=7",
  "--DUR",
  "--rs=4K",
  "--ratio=",
  "--seed",
  "--cf",
  "--generate_audio",
  "--",
  "-",
  "---",
  "—",
  "－－",
  "–-",
  "−",
  "dur",
  "ｄｕｒ",
  "rs",
  "fps",
  "ation",
  "d",
  "ur",
  " ",
  "\n",
  "\u00a0",
  "\u3000",
  "\u0085",
  "\u200b",
  "\u00ad",
  "\u001f",
  "=",
  "：",
  ",",
  "。",
  "（",
  "”",
  "🌅",
  "_",
  ".",
  "8",
  "-1",
  "１５",
  "true",
  "16:9",
  "cat",
  "黄昏",
  "é"
])
const pieces = Arbitrary.schema(Schema.Array(piece).check(Schema.isMaxLength(16)))
const texts = Arbitrary.schema(
  Schema.Array(Schema.Array(piece).check(Schema.isMaxLength(10))).check(Schema.isMaxLength(4))
)

describe("whatever a text is made of", () => {
  it.prop(
    "no reader finds a flag in what is sent",
    [texts],
    ([written]) => {
      const found = takeFlags(written.map((one) => text(one.join(""))))
      if (Result.isFailure(found)) return
      const left = found.success.blocks.flatMap((block) =>
        block.type === "text" ? [block.text] : []
      )
      for (const one of [...left, left.join("\n"), left.join("")]) {
        assert.deepStrictEqual(flagsIn(one), [], JSON.stringify(one))
      }
    },
    { arbitrary: { runs: 2000 } }
  )

  it.prop(
    "taking the flags out again changes nothing",
    [pieces],
    ([written]) => {
      const found = takeFlags([text(written.join(""))])
      if (Result.isFailure(found)) return
      const { blocks } = found.success
      assert.deepStrictEqual(take(...blocks), { blocks, flagValues: {} })
    },
    { arbitrary: { runs: 2000 } }
  )

  it.each([
    "-",
    "--",
    "-- ",
    "--dur",
    "--dur ",
    "--dur=",
    "--dur 1",
    "-- dur ",
    "—",
    "－",
    " ",
    "\u200b",
    "--\u200b",
    "--d",
    "--dur 1.",
    "--dur --",
    "a-"
  ])("100,000 characters of %j are read in linear time", (unit) => {
    const long = unit.repeat(Math.floor(100_000 / unit.length))
    for (const written of [long, `--dur${long}`, `--dur${long}x`, `${long}dur`, `--${long}dur 5`]) {
      takeFlags([text(written)])
    }
  })
})
