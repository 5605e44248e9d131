import { assert, describe, it } from "@effect/vitest"
import { chargeReason } from "../../../src/domain/money/chargeReason.ts"
import { chargeVideo, type VideoUsage } from "../../../src/domain/video/VideoCharge.ts"
import type { TokenVideoQuote, VideoQuote } from "../../../src/domain/video/VideoQuote.ts"

const film: TokenVideoQuote = {
  kind: "token_video",
  resolution: "720p",
  tier: "base",
  withVideo: false,
  inputSeconds: 0,
  outputSeconds: 5,
  smart: false,
  tokensPerSecond: 21_600n,
  nanoPerToken: 46_000n,
  estimatedTokens: 108_000n,
  holdNano: 4_968_000_000n
}
const smart: TokenVideoQuote = {
  ...film,
  smart: true,
  outputSeconds: 15,
  estimatedTokens: 324_000n,
  holdNano: 14_904_000_000n
}
const filmed: TokenVideoQuote = {
  ...film,
  withVideo: true,
  inputSeconds: 4,
  nanoPerToken: 28_000n,
  estimatedTokens: 194_400n,
  holdNano: 5_443_200_000n
}
const sharp: TokenVideoQuote = {
  ...film,
  resolution: "4K",
  tokensPerSecond: 194_400n,
  estimatedTokens: 972_000n,
  holdNano: 44_712_000_000n
}

const reported = (completionTokens: bigint): VideoUsage => ({
  completionTokens,
  outputSeconds: null
})
const silent: VideoUsage = { completionTokens: null, outputSeconds: null }

const videoReason = (quote: VideoQuote, usage: VideoUsage) =>
  chargeReason({ quote, currency: "CNY", inputUnits: 0n, ...chargeVideo(quote, usage) })

describe("the reason of a charge", () => {
  it.each([
    [
      "tokens above the hold",
      film,
      reported(108_900n),
      "The vendor reported 108900 completion tokens at 0.000046 CNY each; 4.968 was held, so 0.0414 more was charged than held."
    ],
    [
      "tokens below the hold",
      film,
      reported(100_000n),
      "The vendor reported 100000 completion tokens at 0.000046 CNY each; 4.968 was held, so 0.368 less was charged than held."
    ],
    [
      "fewer tokens than the video can have",
      film,
      reported(1n),
      "The vendor reported no usable token count, so the formula applies: (0 + 5) s x 21600 tokens/s x 0.000046 = 4.968, at 0.000046 CNY each; exactly the 4.968 that was held was charged."
    ],
    [
      "more tokens than the video can have",
      film,
      reported(1_089_000n),
      "The vendor reported more completion tokens than such an order can have, so the most that it can have are charged: 216000 completion tokens at 0.000046 CNY each; 4.968 was held, so 4.968 more was charged than held."
    ],
    [
      "a reference video",
      filmed,
      reported(194_400n),
      "The vendor reported 194400 completion tokens at 0.000028 CNY each, the price with a reference video; exactly the 5.4432 that was held was charged."
    ],
    [
      "a resolution without a price of its own",
      sharp,
      reported(972_000n),
      "The vendor reported 972000 completion tokens at 0.000046 CNY each, the price of 480p to 720p because 4K has none of its own; exactly the 44.712 that was held was charged."
    ],
    [
      "a length the model chose",
      smart,
      reported(173_700n),
      "The vendor reported 173700 completion tokens at 0.000046 CNY each; the model chose the length, for which 15 s were held; 14.904 was held, so 6.9138 less was charged than held."
    ],
    [
      "no usable token count",
      film,
      silent,
      "The vendor reported no usable token count, so the formula applies: (0 + 5) s x 21600 tokens/s x 0.000046 = 4.968, at 0.000046 CNY each; exactly the 4.968 that was held was charged."
    ],
    [
      "no usable token count of a length the model chose",
      smart,
      { completionTokens: null, outputSeconds: 8 },
      "The vendor reported no usable token count, so the formula applies: (0 + 8) s x 21600 tokens/s x 0.000046 = 7.9488, at 0.000046 CNY each; the model chose the length, for which 15 s were held; 14.904 was held, so 6.9552 less was charged than held."
    ],
    [
      "seconds",
      {
        kind: "second_video",
        resolution: "1080p",
        outputSeconds: 8,
        nanoPerSecond: 600_000_000n,
        holdNano: 4_800_000_000n
      },
      reported(99n),
      "The ordered seconds count, whatever the vendor reports: 8 s x 0.6 = 4.8 CNY at 1080p; exactly the 4.8 that was held was charged."
    ]
  ] as const)("tells of %s", (_, quote, usage, reason) => {
    assert.strictEqual(videoReason(quote, usage), reason)
  })

  it.each([
    [
      1,
      "The number in the request counts, whatever the vendor returns: 1 image x 0.2 = 0.2 CNY; exactly the 0.2 that was held was charged."
    ],
    [
      3,
      "The number in the request counts, whatever the vendor returns: 3 images x 0.2 = 0.6 CNY; exactly the 0.6 that was held was charged."
    ]
  ] as const)("tells of %i images", (images, reason) => {
    const holdNano = BigInt(images) * 200_000_000n
    const quote = { kind: "image", images, nanoPerImage: 200_000_000n, holdNano } as const
    const charge = {
      chargeNano: holdNano,
      units: BigInt(images),
      basis: "requested_images"
    } as const
    assert.strictEqual(chargeReason({ quote, currency: "CNY", inputUnits: 0n, ...charge }), reason)
  })

  it.each([
    [
      "upstream_usage",
      "The vendor reported what it read and wrote: 10 input tokens x 0.000002 + 5 output tokens x 0.000008 = 0.00006 CNY; 0.0001 was held, so 0.00004 less was charged than held."
    ],
    [
      "formula",
      "The vendor reported no usable token count, so the size of what was sent and received counts: 10 input tokens x 0.000002 + 5 output tokens x 0.000008 = 0.00006 CNY; 0.0001 was held, so 0.00004 less was charged than held."
    ]
  ] as const)("tells of a text by %s", (basis, reason) => {
    const quote = {
      kind: "tokens",
      leastInput: 0n,
      mostInput: 100n,
      mostOutput: 100n,
      inputTokens: 10n,
      outputTokens: 10n,
      nanoPerInputToken: 2_000n,
      nanoPerOutputToken: 8_000n,
      holdNano: 100_000n
    } as const
    const charge = { chargeNano: 60_000n, inputUnits: 10n, units: 5n, basis }
    assert.strictEqual(chargeReason({ quote, currency: "CNY", ...charge }), reason)
  })
})
