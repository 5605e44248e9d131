import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Prices } from "../../../src/domain/catalog/Prices.ts"

/** As the admin interface decodes a catalog: a misspelt tier must not vanish. */
const decode = Schema.decodeUnknownSync(Prices, { onExcessProperty: "error", errors: "all" })

const encode: (prices: Prices) => unknown = Schema.encodeSync(Prices)

const film = {
  kind: "token_video",
  per_million_tokens: {
    base: { without_video: "46", with_video: "28" },
    "1080p": { without_video: "51", with_video: "31" },
    "4K": { without_video: "26", with_video: "16" }
  }
}
const clip = { kind: "second_video", per_second: { "720p": "0.6", "1080p": "1.05" } }
const paint = { kind: "image", per_image: "0.2" }
const talk = { kind: "tokens", per_million_input: "2", per_million_output: "8.125" }

describe("prices", () => {
  it("by video tokens are held per token", () => {
    assert.deepStrictEqual(decode(film), {
      kind: "token_video",
      per_million_tokens: {
        base: { without_video: 46_000n, with_video: 28_000n },
        "1080p": { without_video: 51_000n, with_video: 31_000n },
        "4K": { without_video: 26_000n, with_video: 16_000n }
      }
    })
  })

  it("by second, image and text token are held per second, image and token", () => {
    assert.deepStrictEqual(decode(clip), {
      kind: "second_video",
      per_second: { "720p": 600_000_000n, "1080p": 1_050_000_000n }
    })
    assert.deepStrictEqual(decode(paint), { kind: "image", per_image: 200_000_000n })
    assert.deepStrictEqual(decode(talk), {
      kind: "tokens",
      per_million_input: 2000n,
      per_million_output: 8125n
    })
  })

  it.each([film, clip, paint, talk])("are written back as they were read: %j", (prices) => {
    assert.deepStrictEqual(encode(decode(prices)), prices)
  })

  it.each([
    { kind: "token_video", per_million_tokens: {} },
    { kind: "token_video", per_million_tokens: { base: {}, "4K": { with_video: "16" } } },
    { kind: "second_video", per_second: {} },
    { kind: "image" },
    { kind: "tokens", per_million_input: "2" }
  ])("may be missing: %j", (prices) => {
    assert.deepStrictEqual(encode(decode(prices)), prices)
  })

  it.each([
    ["a price of zero", { ...paint, per_image: "0" }, "per_image"],
    ["a negative price", { ...paint, per_image: "-1" }, "per_image"],
    ["a number", { ...paint, per_image: 0.2 }, "per_image"],
    ["ten decimals", { ...paint, per_image: "0.0000000001" }, "per_image"],
    ["null", { ...paint, per_image: null }, "per_image"],
    ["zero per token", { ...talk, per_million_input: "0.000" }, "per_million_input"],
    ["four decimals per token", { ...talk, per_million_output: "8.0001" }, "per_million_output"],
    [
      "four decimals per video token",
      { ...film, per_million_tokens: { base: { without_video: "46.0001" } } },
      "without_video"
    ],
    ["a resolution nobody has", { ...clip, per_second: { "8K": "9" } }, "8K"],
    ["a resolution in another case", { ...clip, per_second: { "4k": "9" } }, "4k"],
    ["a tier in another case", { ...film, per_million_tokens: { "4k": {} } }, "4k"],
    ["a tier of the base", { ...film, per_million_tokens: { "720p": {} } }, "720p"],
    ["a misspelt price", { ...film, per_million_tokens: { base: { withVideo: "1" } } }, "withVideo"]
  ])("are refused with %s", (_, prices, path) => {
    assert.throws(() => decode(prices), `["${path}"]`)
  })

  it.each([{ kind: "per_video" }, {}, null, "46", { ...paint, kind: "tokens" }])(
    "are refused as %j",
    (prices) => {
      assert.throws(() => decode(prices))
    }
  )
})
