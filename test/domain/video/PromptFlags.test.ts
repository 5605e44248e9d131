import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { takeFlags } from "../../../src/domain/video/PromptFlags.ts"
import { VideoBody } from "../../../src/domain/video/VideoBody.ts"
import { normaliseVideo, textOf, type VideoBlock } from "../../../src/domain/video/VideoInput.ts"
import { flagsIn } from "../../support/flagReader.ts"

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string }

const text = (value: string): Block => ({ type: "text", text: value })
const image: Block = { type: "image", url: "https://pictures.example/1.png" }
const take = (...blocks: ReadonlyArray<Block>) => Result.getOrThrow(takeFlags(blocks))

/** The order that a prompt alone comes down to. */
const order = (prompt: string, more: Partial<VideoBody> = {}) =>
  normaliseVideo({ model: "film-1", prompt, ...more })
const ordered = (prompt: string) => Result.getOrThrow(order(prompt))
const refusalOf = (prompt: string, more: Partial<VideoBody> = {}) =>
  Result.getOrThrow(Result.flip(order(prompt, more)))

const decode = Schema.decodeUnknownResult(VideoBody)

const sent = (blocks: ReadonlyArray<VideoBlock>) => textOf(blocks)

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
      { seed: "7", cameraFixed: "true", watermark: "false" }
    ],
    ["a cat --generate_audio false", "a cat", { generateAudio: "false" }]
  ])("is read and taken out of %j", (written, left, said) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(left)], said })
  })

  it.each([
    ["a cat --duration", { duration: "" }],
    ["a cat --duration=", { duration: "" }],
    ["a cat --duration --rs 720p", { duration: "", resolution: "720p" }],
    ["a cat --dur --rs --rt", { duration: "", resolution: "", ratio: "" }]
  ])("without a value is told apart from no flag in %j", (written, said) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text("a cat")], said })
  })

  it.each([
    ["sea --duration 5 and sky --duration 9", "sea and sky", { duration: "9" }],
    ["sea --dur 5 --duration=9 --dur 7", "sea", { duration: "7" }],
    ["sea --rs 4K --resolution", "sea", { resolution: "" }]
  ])("gives way to a later one of the same meaning in %j", (written, left, said) => {
    assert.deepStrictEqual(take(text(written)), { blocks: [text(left)], said })
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
    assert.deepStrictEqual(take(text(written)), { blocks: [text(written)], said: {} })
  })
})

describe("a flag begins wherever dashes and a known name stand", () => {
  it.each([
    ["黄昏--dur 15", "黄昏", { seconds: 15 }],
    ["黄昏，--dur 15", "黄昏，", { seconds: 15 }],
    ["黄昏。--resolution 1080p", "黄昏。", { resolution: "1080p" }],
    ["黄昏（--dur 15）", "黄昏（ ）", { seconds: 15 }],
    ["「--dur 15」", "「 」", { seconds: 15 }],
    ["时长５--dur 15", "时长５", { seconds: 15 }],
    ["ひぐれ--ratio 9:16", "ひぐれ", { ratio: "9:16" }],
    ["황혼--dur 6", "황혼", { seconds: 6 }],
    ["dusk,--dur 15", "dusk,", { seconds: 15 }],
    ["dusk (--dur 15)", "dusk ( )", { seconds: 15 }],
    ['"--dur 15"', '" "', { seconds: 15 }],
    ["“--dur 15” dusk", "“ ” dusk", { seconds: 15 }],
    ["dusk_--dur 15", "dusk_", { seconds: 15 }],
    ["dusk/--rs 4K", "dusk/", { resolution: "4K" }],
    ["dusk 🌅--dur 15", "dusk 🌅", { seconds: 15 }],
    ["dusk\u200b--dur 15", "dusk\u200b", { seconds: 15 }],
    ["dusk\u0085--dur 15", "dusk\u0085", { seconds: 15 }],
    ["dusk\u00a0--dur 15", "dusk", { seconds: 15 }],
    ["dusk\u3000--dur 15", "dusk", { seconds: 15 }],
    ["dusk\u2060--dur 15", "dusk\u2060", { seconds: 15 }],
    ["dusk\u0000--dur 15", "dusk\u0000", { seconds: 15 }]
  ])("as in %j", (written, left, fields) => {
    const { blocks, ...said } = ordered(written)
    assert.deepInclude(said, fields)
    assert.strictEqual(sent(blocks), left)
  })

  it.each([
    ["黄昏－－dur 15", "黄昏"],
    ["黄昏——dur 15", "黄昏"],
    ["黄昏—dur 15", "黄昏"],
    ["dusk –dur 15", "dusk"],
    ["dusk –-dur 15", "dusk"],
    ["dusk −−dur 15", "dusk"],
    ["dusk ‐‑dur 15", "dusk"],
    ["dusk —--dur 15", "dusk"],
    ["dusk—--dur 15", "dusk—"],
    ["dusk−--dur 15", "dusk−"],
    ["dusk ﹣﹣dur 15", "dusk"]
  ])("with the dashes of %j", (written, left) => {
    const { blocks, seconds } = ordered(written)
    assert.deepStrictEqual([seconds, sent(blocks)], [15, left])
  })

  it.each([
    ["黄昏--dur=15"],
    ["黄昏--dur:15"],
    ["黄昏--dur＝15"],
    ["黄昏--dur：15"],
    ["黄昏--dur ： 15"],
    ["黄昏--dur\u00a015"],
    ["黄昏--dur\u300015"],
    ["黄昏--dur\u200b15"],
    ["黄昏--dur\u200b \u2060=\ufeff15"],
    ["黄昏--dur   \n\n 15"],
    ["黄昏--dur15"],
    ["黄昏--DUR１５"]
  ])("and its value may stand apart as in %j", (written) => {
    const { blocks, seconds } = ordered(written)
    assert.deepStrictEqual([seconds, sent(blocks)], [15, "黄昏"])
  })

  it.each([
    ["黄昏--dur 5，然后下雨", 5, "黄昏 ，然后下雨"],
    ["黄昏--dur 5然后下雨", 5, "黄昏 然后下雨"],
    ["黄昏--dur 5秒", 5, "黄昏 秒"],
    ["(dusk --dur 5)", 5, "(dusk )"],
    ["dusk --dur 5, then rain", 5, "dusk , then rain"],
    ["dusk --dur 5. Then rain", 5, "dusk . Then rain"],
    ["dusk --dur 5--rs 4K", 5, "dusk"],
    ["dusk --dur 5\u200b--rs 4K", 5, "dusk \u200b"],
    ["黄昏--dur 十五", "", "黄昏 十五"],
    ['dusk --dur "15"', "", 'dusk "15"'],
    ["dusk --dur 7.5", "7.5", "dusk"]
  ])("and the value of %j ends in time", (written, seconds, left) => {
    const found = ordered(written)
    assert.deepStrictEqual([found.seconds, sent(found.blocks)], [seconds, left])
  })

  it.each([
    ["--seed 11 海", { seed: 11 }],
    ["海--seed -1", { seed: -1 }],
    ["海--camerafixed true", { cameraFixed: true }],
    ["海--camera_fixed FALSE", { cameraFixed: false }],
    ["海--camera-fixed=true", { cameraFixed: true }],
    ["海--cf true", { cameraFixed: true }],
    ["海--wm true --watermark false", { watermark: false }],
    ["海--generate_audio true", { generateAudio: true }],
    ["海--generate-audio=false", { generateAudio: false }]
  ])("and what it says is kept for the vendor's field: %j", (written, fields) => {
    const { blocks, ...said } = ordered(written)
    assert.deepInclude(said, fields)
    assert.strictEqual(sent(blocks), "海")
  })

  it("and a body field wins over it", () => {
    const body = { duration: 6, resolution: "720p", ratio: "1:1", generate_audio: false }
    const flags = "海--dur 15--rs 4K--rt 16:9--generate_audio true"
    assert.deepInclude(Result.getOrThrow(order(flags, body)), {
      seconds: 6,
      resolution: "720p",
      ratio: "1:1",
      generateAudio: false
    })
  })
})

describe("a flag that would change the order unseen", () => {
  it.each([
    ["--frames", "duration"],
    ["--frm", "duration"],
    ["--num_frames", "duration"],
    ["--fps", "prompt"],
    ["--framespersecond", "prompt"],
    ["--frames_per_second", "prompt"],
    ["--FPS", "prompt"],
    ["--draft", "prompt"],
    ["--service_tier", "prompt"],
    ["--servicetier", "prompt"],
    ["--n", "prompt"],
    ["--size", "resolution"],
    ["--model", "model"],
    ["--noaudio", "generate_audio"],
    ["--return_last_frame", "prompt"],
    ["--callback_url", "prompt"]
  ])("is refused by name: %s", (name, param) => {
    for (const written of [`a cat ${name} 60`, `黄昏${name}=60`, `(${name}60)`, `x ${name}`]) {
      const error = refusalOf(written, { duration: 5 })
      assert.deepStrictEqual([error._tag, error.param], ["invalid_request", param], written)
      assert.include(error.message, `The flag ${name} in the text is not taken`, written)
      if (param !== "prompt") assert.include(error.message, param)
    }
  })

  it.each([
    ["a cat --seed soon", "prompt", "--seed"],
    ["a cat --wm", "prompt", "--watermark"],
    ["a cat --cf yes", "prompt", "--camera_fixed"],
    ["a cat --generate_audio loud", "generate_audio", "--generate_audio"]
  ])("is refused with a value that its field cannot hold: %j", (written, param, name) => {
    const error = refusalOf(written)
    assert.strictEqual(error.param, param)
    assert.include(error.message, `behind ${name}`)
  })

  it.each([
    ["黄昏--ｄｕｒ 15"],
    ["黄昏--d\u200bur 15"],
    ["黄昏--du\u00adr 15"],
    ["黄昏--d\u0001ur 15"],
    ["黄昏--𝐝𝐮𝐫 15"],
    ["黄昏-\u200b-dur 15"],
    ["黄昏--\u200bdur 15"],
    ["黄昏--\ufeffdur 15"],
    ["黄昏－\u2060－ｄｕｒ 15"],
    ["dusk -- dur 15"],
    ["dusk --\u3000duration：15"],
    ["dusk --\nfps 60"],
    ["dusk -- cf true"],
    ["dusk -- --dur 5 dur 15"]
  ])("is refused in disguise: %j", (written) => {
    const error = refusalOf(written, { duration: 5 })
    assert.deepStrictEqual([error._tag, error.param], ["invalid_request", "prompt"])
    assert.match(error.message, /could read as the flag --/)
  })

  it.each([
    ["dusk -\u200b--dur 5\u200b-dur 15"],
    ["dusk, -,--dur 5 -dur 15"],
    ["dusk --dur --dur 5 15"],
    ["dusk --du--rs 4K,--rs 4Kr 15 --dur 5"]
  ])("does not come out of the rest of %j", (written) => {
    assert.deepStrictEqual(flagsIn(sent(ordered(written).blocks)), [])
  })

  it.each([
    [["dusk --", "dur 15"]],
    [["dusk -", "-dur 15"]],
    [["dusk --du", "r 15"]],
    [["dusk --dur", "ation 15"]]
  ])("is refused or taken when two blocks make it together: %j", (texts) => {
    const content = texts.map((one) => ({ type: "text" as const, text: one }))
    const found = normaliseVideo({ model: "film-1", content })
    if (Result.isSuccess(found)) {
      assert.strictEqual(found.success.seconds, "")
      assert.deepStrictEqual(flagsIn(sent(found.success.blocks)), [])
    } else assert.strictEqual(found.failure.param, "prompt")
  })

  it.each([["16:9 --dur 15"], ["16:9--dur 15"], ["16:9 —dur 15"], ["16:9 －－dur 15"]])(
    "is refused within a ratio: %j",
    (ratio) => {
      const body = decode({ model: "film-1", prompt: "dusk", ratio })
      assert.isTrue(Result.isFailure(body))
    }
  )
})

describe("the blocks of a request", () => {
  it("lose the flags of every text, and the last text wins", () => {
    assert.deepStrictEqual(take(text("sea --dur 5"), image, text("--rs 4K sky --dur 9")), {
      blocks: [text("sea"), image, text("sky")],
      said: { duration: "9", resolution: "4K" }
    })
  })

  it("lose a text that held nothing but flags", () => {
    assert.deepStrictEqual(take(text("--dur 5"), image, text("  ")), {
      blocks: [image],
      said: { duration: "5" }
    })
  })

  it("keep media untouched, also when an address looks like a flag", () => {
    const odd: Block = { type: "image", url: "https://pictures.example/ --duration 8" }
    assert.deepStrictEqual(take(odd), { blocks: [odd], said: {} })
  })

  it("hold at most 100,000 characters of text together", () => {
    const content = [1, 2].map(() => ({ type: "text" as const, text: "x".repeat(50_000) }))
    const found = normaliseVideo({ model: "film-1", content })
    assert.strictEqual(Result.getOrThrow(Result.flip(found)).param, "content")
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
      assert.deepStrictEqual(take(...blocks), { blocks, said: {} })
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
