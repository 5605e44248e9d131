import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { VideoBody } from "../../../src/domain/video/VideoBody.ts"
import { normaliseVideo, textOf } from "../../../src/domain/video/VideoInput.ts"
import { flagsIn } from "../../support/flagReader.ts"

/** The order that a prompt alone comes down to. */
const order = (prompt: string, more: Partial<VideoBody> = {}) =>
  normaliseVideo({ model: "film-1", prompt, ...more })
const ordered = (prompt: string) => Result.getOrThrow(order(prompt))
const refusalOf = (prompt: string, more: Partial<VideoBody> = {}) =>
  Result.getOrThrow(Result.flip(order(prompt, more)))

const decode = Schema.decodeUnknownResult(VideoBody)

/** Fields of the vendor's own that flags stand for. */
const said = (parameters: Readonly<Record<string, unknown>>) => ({
  parameters,
  flagged: Object.keys(parameters)
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
    assert.strictEqual(textOf(blocks), left)
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
    assert.deepStrictEqual([seconds, textOf(blocks)], [15, left])
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
    assert.deepStrictEqual([seconds, textOf(blocks)], [15, "黄昏"])
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
    assert.deepStrictEqual([found.seconds, textOf(found.blocks)], [seconds, left])
  })

  it.each([
    ["--seed 11 海", said({ seed: 11 })],
    ["海--seed -1", said({ seed: -1 })],
    ["海--camerafixed true", said({ camera_fixed: true })],
    ["海--camera_fixed FALSE", said({ camera_fixed: false })],
    ["海--camera-fixed=true", said({ camera_fixed: true })],
    ["海--cf true", said({ camera_fixed: true })],
    ["海--wm true --watermark false", said({ watermark: false })],
    ["海--generate_audio true", { generateAudio: true }],
    ["海--generate-audio=false", { generateAudio: false }]
  ])("and what it says is kept for the vendor's field: %j", (written, fields) => {
    const { blocks, ...said } = ordered(written)
    assert.deepInclude(said, fields)
    assert.strictEqual(textOf(blocks), "海")
  })

  it("and a body field wins over it", () => {
    const fixed = { duration: 6, resolution: "720p", ratio: "1:1", generate_audio: false }
    const body = { ...fixed, seed: 7, watermark: null }
    const flags = "海--dur 15--rs 4K--rt 16:9--generate_audio true--seed 8--wm true"
    assert.deepInclude(Result.getOrThrow(order(flags, body)), {
      seconds: 6,
      resolution: "720p",
      ratio: "1:1",
      generateAudio: false,
      parameters: { seed: 7, watermark: true },
      flagged: ["watermark"]
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
    assert.deepStrictEqual(flagsIn(textOf(ordered(written).blocks)), [])
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
      assert.deepStrictEqual(flagsIn(textOf(found.success.blocks)), [])
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
