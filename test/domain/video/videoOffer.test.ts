import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, Struct } from "effect"
import type { InputRole } from "../../../src/domain/video/families/VideoFamily.ts"
import { Ratio } from "../../../src/domain/video/sizes.ts"
import { Resolution, tokensPerSecond } from "../../../src/domain/video/tiers.ts"
import type { VideoBlock, VideoInput } from "../../../src/domain/video/VideoInput.ts"
import {
  placeOrder,
  type VideoProtocol,
  type VideoProtocolRow,
  videoProtocols
} from "../../../src/domain/video/VideoProtocol.ts"
import { videoTokenPrice } from "../../../src/domain/video/VideoQuote.ts"
import { defaultsTogether, resolveSku } from "../../../src/domain/video/VideoSku.ts"
import { describeSeconds, type VideoLimits } from "../../../src/domain/video/videoLimits.ts"
import {
  checkLimits,
  defaultRatioOf,
  longestSecondsOf,
  offersTogether,
  type VideoOffer,
  videoOffer
} from "../../../src/domain/video/videoOffer.ts"

const rowOf = (protocol: VideoProtocol): VideoProtocolRow => videoProtocols[protocol]

const offerOf = (protocol: VideoProtocol, model?: VideoLimits, mount?: VideoLimits): VideoOffer =>
  videoOffer(rowOf(protocol), rowOf("vp_d"), { model, mount })

const rolesBy =
  (protocol: VideoProtocol) =>
  (blocks: ReadonlyArray<VideoBlock>): ReadonlyArray<InputRole> =>
    placeOrder({ row: rowOf(protocol), listed: undefined, upstreamModel: "unknown" }, blocks).roles

const lengthsOf = ({ seconds: [min, max], onlySeconds }: VideoOffer): ReadonlyArray<number> =>
  onlySeconds ?? Array.from({ length: max - min + 1 }, (_, index) => min + index)

describe("an offer without limits", () => {
  it.each(Struct.keys(videoProtocols))("is the row of %s", (protocol) => {
    const { seconds, onlySeconds, smart, resolutions } = rowOf(protocol)
    const offer = offerOf(protocol)
    assert.deepInclude(offer, { seconds, smart, resolutions, canBeSilent: true, canSound: true })
    assert.notProperty(offer, "acceptedRatios")
    assert.notProperty(offer, "inputs")
    assert.deepStrictEqual(
      offer.onlySeconds,
      onlySeconds === undefined ? undefined : [...onlySeconds]
    )
  })
})

describe("an offer with limits", () => {
  it.each([
    [{ seconds: [3, 30] }, undefined, { seconds: [3, 30] }],
    [{ seconds: [3, 30] }, { seconds: [1, 10] }, { seconds: [3, 10] }],
    [{ seconds: { one_of: [8, 4, 6] } }, undefined, { seconds: [4, 8], onlySeconds: [4, 6, 8] }],
    [{ seconds: { one_of: [4, 6, 8] } }, { seconds: [5, 20] }, { onlySeconds: [6, 8] }],
    [{ seconds: [3, 30] }, { seconds: { one_of: [2, 9] } }, { onlySeconds: [9] }],
    [undefined, { seconds: [5, 10] }, { seconds: [5, 10] }],
    [{ resolutions: ["2K", "768p"] }, undefined, { resolutions: ["768p", "2K"] }],
    [{ resolutions: ["720p", "2K"] }, { resolutions: ["2K"] }, { resolutions: ["2K"] }],
    [undefined, { resolutions: ["4K"] }, { resolutions: ["4K"] }],
    [{ ratios: ["21:9"] }, undefined, { ratios: ["21:9"], acceptedRatios: ["21:9"] }],
    [undefined, { ratios: ["1:1"] }, { ratios: ["1:1"], acceptedRatios: ["1:1"] }],
    [{ max_prompt: 500 }, { max_prompt: 200 }, { maxPrompt: 200 }],
    [{ silent: false }, undefined, { canBeSilent: false, canSound: true }],
    [undefined, { sound: false }, { canBeSilent: true, canSound: false }]
  ] satisfies ReadonlyArray<
    readonly [VideoLimits | undefined, VideoLimits | undefined, Partial<VideoOffer>]
  >)("of the model %j and the mount %j is %j", (model, mount, expected) => {
    assert.deepInclude(offerOf("vp_d", model, mount), expected)
  })

  it("takes the least of both numbers of media", () => {
    const model = { inputs: { first_frame: 1, reference_image: 5 } }
    const { inputs } = offerOf("vp_d", model, { inputs: { reference_image: 3, last_frame: 1 } })
    assert.deepInclude(inputs, { first_frame: 0, reference_image: 3, last_frame: 0 })
  })

  it("lets a model choose its length where limits say so, and nowhere else", () => {
    assert.strictEqual(offerOf("vp_a", { smart: true }).smart, "usage_billed")
    assert.strictEqual(offerOf("vp_b", { smart: true }).smart, "always")
    assert.strictEqual(offerOf("vp_b", { smart: false }).smart, "never")
    assert.strictEqual(offerOf("vp_b", undefined, { smart: false }).smart, "never")
    assert.strictEqual(offerOf("vp_a", undefined, { smart: true }).smart, "never")
  })

  it("knows the longest output only from limits", () => {
    assert.strictEqual(longestSecondsOf(undefined), undefined)
    assert.strictEqual(longestSecondsOf({ smart: true }), undefined)
    assert.strictEqual(longestSecondsOf({ seconds: [4, 30] }), 30)
    assert.strictEqual(longestSecondsOf({ seconds: { one_of: [6, 20, 4] } }), 20)
  })
})

const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))
const SecondsLimit = Schema.Union([
  Schema.Tuple([Seconds, Seconds]),
  Schema.Struct({ one_of: Schema.NonEmptyArray(Seconds) })
])
const Limits = Schema.Struct({
  seconds: Schema.optionalKey(SecondsLimit),
  smart: Schema.optionalKey(Schema.Boolean),
  resolutions: Schema.optionalKey(Schema.NonEmptyArray(Resolution)),
  ratios: Schema.optionalKey(Schema.NonEmptyArray(Ratio))
})

/** The limits without an interval that ends before it begins, which no catalog has. */
const sound = ({ seconds, ...limits }: typeof Limits.Type): VideoLimits => {
  if (seconds === undefined) return limits
  if ("one_of" in seconds) return { ...limits, seconds: { one_of: [...new Set(seconds.one_of)] } }
  return { ...limits, seconds: [Math.min(...seconds), Math.max(...seconds)] }
}

describe("every offer", () => {
  it.prop(
    "is within the limits of its model, is narrowed by its mount, and offers its defaults",
    [Schema.Literals(Struct.keys(videoProtocols)), Limits, Limits],
    ([protocol, ofModel, ofMount]) => {
      const [model, mount] = [sound(ofModel), sound(ofMount)]
      const wide = offerOf(protocol, model)
      const narrow = offerOf(protocol, model, mount)
      assert.includeMembers([...lengthsOf(wide)], [...lengthsOf(narrow)])
      assert.includeMembers([...wide.resolutions], [...narrow.resolutions])
      if (model.resolutions !== undefined) {
        assert.sameMembers([...new Set(model.resolutions)], [...wide.resolutions])
      }
      if (model.ratios !== undefined) {
        assert.includeMembers([...model.ratios], [...(narrow.ratios ?? [])])
      }
      if (model.smart === false || mount.smart === false) assert.strictEqual(narrow.smart, "never")

      const sku = Result.getOrThrow(
        resolveSku(narrow, "token_video", { seconds: null, resolution: null })
      )
      assert.include([...lengthsOf(narrow)], sku.seconds)
      if (narrow.resolutions.length > 0) assert.include(narrow.resolutions, sku.resolution)
    }
  )

  it.prop(
    "takes exactly its lengths, and names one of them for any other",
    [Schema.Literals(Struct.keys(videoProtocols)), Limits, Seconds],
    ([protocol, ofModel, seconds]) => {
      const offer = offerOf(protocol, sound(ofModel))
      const sku = resolveSku(offer, "second_video", { seconds, resolution: null })
      assert.strictEqual(Result.isSuccess(sku), lengthsOf(offer).includes(seconds))
      if (Result.isFailure(sku)) assert.include([...lengthsOf(offer)], sku.failure.nearest)
    }
  )

  it.prop("has a part of the union with another", [Limits, Limits], ([one, other]) => {
    const offers = [offerOf("vp_d", sound(one)), offerOf("vp_e", sound(other))] as const
    const together = offersTogether(offers)
    const lengths = new Set(offers.flatMap(lengthsOf))
    assert.sameMembers([...lengthsOf(together)], [...lengths])
  })
})

describe("the defaults of several offers", () => {
  const long = offerOf("vp_d", { seconds: [10, 30], resolutions: ["1080p", "4K"] })
  const short = offerOf("vp_d", { seconds: [3, 8], resolutions: ["720p"] })

  it.each([
    [
      { seconds: null, resolution: null },
      { seconds: 5, resolution: "720p" }
    ],
    [
      { seconds: 10, resolution: null },
      { seconds: 10, resolution: "1080p" }
    ],
    [
      { seconds: null, resolution: "4k" },
      { seconds: 10, resolution: "4k" }
    ],
    [
      { seconds: null, resolution: "8k" },
      { seconds: 5, resolution: "8k" }
    ],
    [
      { seconds: -1, resolution: null },
      { seconds: -1, resolution: "720p" }
    ],
    [
      { seconds: 40, resolution: "720p" },
      { seconds: 40, resolution: "720p" }
    ]
  ])("complete %j to %j, whichever comes first", (input, expected) => {
    assert.deepStrictEqual(defaultsTogether([long, short], input), expected)
    assert.deepStrictEqual(defaultsTogether([short, long], input), expected)
  })

  it("leave the resolution to an offer that takes none", () => {
    const { resolution } = defaultsTogether([offerOf("vp_a"), offerOf("vp_b")], {
      seconds: null,
      resolution: null
    })
    assert.isNull(resolution)
  })
})

describe("the price of the tiers that only limits offer", () => {
  it.each([
    [{ base: { without_video: 46n } }, "2K", "base", 46n],
    [{ base: { without_video: 46n }, "2K": { without_video: 60n } }, "2K", "2K", 60n],
    [{ base: { without_video: 46n }, "1080p": { without_video: 51n } }, "768p", "base", 46n]
  ] as const)("of %o for %s is that of %s", (per_million_tokens, resolution, tier, price) => {
    const prices = { kind: "token_video", per_million_tokens } as const
    const { tier: applied, nanoPerToken } = Result.getOrThrow(
      videoTokenPrice(prices, resolution, false)
    )
    assert.deepStrictEqual([applied, nanoPerToken], [tier, price])
  })
})

describe("the union of offers", () => {
  it("names the gap between intervals", () => {
    const offers = [offerOf("vp_d", { seconds: [3, 5] }), offerOf("vp_d", { seconds: [10, 12] })]
    const [one, other] = offers
    assert.isDefined(one)
    assert.isDefined(other)
    const together = offersTogether([one, other])
    assert.deepStrictEqual(together.onlySeconds, [3, 4, 5, 10, 11, 12])
    const sku = resolveSku(together, "second_video", { seconds: 7, resolution: null })
    const { message, nearest } = Result.getOrThrow(Result.flip(sku))
    assert.strictEqual(nearest, 5)
    assert.include(message, "takes 3 to 5, 10 to 12 seconds")
  })

  it("has a fixed resolution where all offers have one, and that beside those of the others", () => {
    const fixed: VideoOffer = { ...offerOf("vp_b"), hasFixedResolution: true }
    const sharp: VideoOffer = { ...offerOf("vp_a"), resolutions: ["1080p"] }
    const allowed = (...offers: readonly [VideoOffer, VideoOffer]) => {
      const input = { seconds: 5, resolution: "480p" }
      const sku = resolveSku(offersTogether(offers), "token_video", input)
      return Result.isFailure(sku) ? sku.failure.allowed : "any"
    }
    assert.deepStrictEqual(allowed(fixed, fixed), ["720p"])
    assert.deepStrictEqual(allowed(fixed, sharp), ["720p", "1080p"])
    assert.deepStrictEqual(allowed(fixed, offerOf("vp_b")), "any")
    const open = { seconds: 5, resolution: null }
    assert.isNull(defaultsTogether([fixed, fixed], open).resolution)
    assert.strictEqual(defaultsTogether([fixed, sharp], open).resolution, "720p")
    assert.deepStrictEqual(
      Result.getOrThrow(resolveSku(fixed, "token_video", { seconds: 5, resolution: "720p" })),
      { seconds: 5, resolution: null, billedResolution: "720p" }
    )
  })

  it("is without limits where one of the offers is", () => {
    const limited = offerOf("vp_d", {
      ratios: ["1:1"],
      inputs: { first_frame: 1 },
      max_prompt: 5,
      sound: false
    })
    const together = offersTogether([limited, offerOf("vp_d")])
    for (const name of ["acceptedRatios", "inputs", "maxPrompt"] as const) {
      assert.isUndefined(together[name])
    }
    assert.isTrue(together.canSound)
  })

  it("has the most of each medium", () => {
    const one = offerOf("vp_d", { inputs: { first_frame: 1 } })
    const other = offerOf("vp_d", { inputs: { reference_image: 3 } })
    assert.deepStrictEqual(offersTogether([one, other]).inputs, {
      first_frame: 1,
      reference_image: 3
    })
  })
})

describe("seconds for people", () => {
  it.each([
    [[4, 6, 8], "4, 6, 8"],
    [[3, 4, 5, 9], "3 to 5, 9"],
    [[3, 4, 9], "3, 4, 9"],
    [[5], "5"]
  ] as const)("%j are %s", (seconds, text) => {
    assert.strictEqual(describeSeconds(seconds), text)
  })
})

const image = (
  role: "first_frame" | "middle_frame" | "last_frame" | "reference_image" | null
): VideoBlock => ({
  type: "image",
  role,
  url: "https://media.example/1.png"
})
const text = (characters: number): VideoBlock => ({ type: "text", text: "a".repeat(characters) })

const order = (input: Partial<VideoInput>): VideoInput => ({
  blocks: [text(10)],
  seconds: null,
  resolution: null,
  ratio: null,
  generateAudio: null,
  parameters: {},
  flagged: [],
  ...input
})

describe("an order within limits", () => {
  it.each([
    [{ inputs: { first_frame: 1 } }, { blocks: [image(null)] }, null],
    [{ inputs: { first_frame: 1 } }, { blocks: [image("last_frame")] }, "image"],
    [{ inputs: { first_frame: 1 } }, { blocks: [image(null), image(null)] }, "image"],
    [{ inputs: { reference_image: 2 } }, { blocks: [image(null), image(null)] }, null],
    [{ inputs: { reference_image: 0 } }, { blocks: [image(null)] }, "image"],
    [{ inputs: {} }, { blocks: [{ type: "video", url: "u" }] }, "video"],
    [{ inputs: {} }, { blocks: [{ type: "audio", url: "u" }] }, "audio"],
    [{ inputs: {} }, {}, null],
    [{ max_prompt: 10 }, {}, null],
    [{ max_prompt: 10 }, { blocks: [text(5), text(5)] }, "prompt"],
    [{ ratios: ["16:9"] }, { ratio: "16:9" }, null],
    [{ ratios: ["16:9"] }, { ratio: "adaptive" }, "ratio"],
    [{ ratios: ["16:9"] }, {}, null],
    [{ sound: false }, { generateAudio: true }, "generate_audio"],
    [{ sound: false }, { generateAudio: false }, null],
    [{ silent: false }, { generateAudio: false }, "generate_audio"],
    [{ silent: false }, {}, null]
  ] satisfies ReadonlyArray<readonly [VideoLimits, Partial<VideoInput>, string | null]>)(
    "of %j: %j is refused by %s",
    (limits, input, param) => {
      const result = checkLimits(offerOf("vp_d", limits), order(input), rolesBy("vp_d"))
      assert.strictEqual(Result.isFailure(result) ? result.failure.param : null, param)
    }
  )

  it("sends a lone image as a reference where no first frame is accepted", () => {
    const offer = offerOf("vp_a", { inputs: { reference_image: 3 } })
    const { blocks } = Result.getOrThrow(
      checkLimits(offer, order({ blocks: [image(null)] }), rolesBy("vp_a"))
    )
    assert.deepStrictEqual(blocks, [image("reference_image")])
  })

  it("sends a lone image as the first frame where the limits accept only that", () => {
    const offer = offerOf("vp_a", { inputs: { first_frame: 1, reference_audio: 1 } })
    const audio = { type: "audio", url: "u" } as const
    const { blocks } = Result.getOrThrow(
      checkLimits(offer, order({ blocks: [image(null), audio] }), rolesBy("vp_a"))
    )
    assert.deepStrictEqual(blocks, [image("first_frame"), audio])
  })

  it("sends a ratio that the limits accept with a text alone, as the default may be another", () => {
    const offer = offerOf("vp_d", { ratios: ["9:16", "1:1"] })
    const ratioOf = (input: Partial<VideoInput>) =>
      Result.getOrThrow(checkLimits(offer, order(input), rolesBy("vp_d"))).ratio
    assert.deepStrictEqual(
      [ratioOf({}), ratioOf({ ratio: "1:1" }), ratioOf({ blocks: [image(null)] })],
      ["9:16", "1:1", null]
    )
  })

  it("names the nearest ratio", () => {
    const offer = offerOf("vp_d", { ratios: ["9:16", "16:9", "1:1"] })
    const { message } = Result.getOrThrow(
      Result.flip(checkLimits(offer, order({ ratio: "21:9" }), rolesBy("vp_d")))
    )
    assert.strictEqual(
      message,
      'ratio: "21:9" is not offered: this model takes 9:16, 16:9, 1:1. The nearest is 16:9'
    )
  })

  it("has 16:9 as the ratio of a size, or else the first ratio", () => {
    assert.strictEqual(defaultRatioOf(offerOf("vp_d")), "16:9")
    assert.strictEqual(defaultRatioOf(offerOf("vp_d", { ratios: ["1:1", "16:9"] })), "16:9")
    assert.strictEqual(defaultRatioOf(offerOf("vp_d", { ratios: ["9:16", "1:1"] })), "9:16")
  })
})

describe("the tiers that few protocols offer", () => {
  it("have whole tokens a second", () => {
    assert.strictEqual(tokensPerSecond["768p"], 24_480n)
    assert.strictEqual(tokensPerSecond["2K"], 86_400n)
  })

  it("are in the row of one protocol alone", () => {
    for (const protocol of Struct.keys(videoProtocols)) {
      if (protocol === "minimax") continue
      for (const resolution of ["768p", "2K"] as const) {
        assert.notInclude(rowOf(protocol).resolutions, resolution)
      }
    }
  })

  it.each([
    ["2k", "2K"],
    ["2K", "2K"],
    ["768P", "768p"]
  ] as const)("are matched ignoring case: %s", (requested, resolution) => {
    const offer = offerOf("vp_a", { resolutions: ["720p", "768p", "2K", "4K"] })
    const sku = resolveSku(offer, "token_video", { seconds: 5, resolution: requested })
    assert.strictEqual(Result.getOrThrow(sku).resolution, resolution)
  })

  it.each([
    ["2 k", ["1080p", "2K", "4K"], "2K"],
    ["1440", ["1080p", "2K", "4K"], "2K"],
    ["2K", ["720p", "1080p", "4K"], "1080p"],
    ["8k", ["720p", "2K", "4K"], "4K"],
    ["768p", ["720p", "1080p"], "720p"]
  ] as const)("%s is nearest in %j to %s", (resolution, resolutions, nearest) => {
    const offer = offerOf("vp_a", { resolutions })
    const sku = resolveSku(offer, "token_video", { seconds: 5, resolution })
    assert.strictEqual(Result.getOrThrow(Result.flip(sku)).nearest, nearest)
  })
})
