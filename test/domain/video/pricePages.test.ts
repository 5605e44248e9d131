/**
 * Lines of published price pages as catalog entries: each is held and charged to the last unit, for
 * three lengths.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Prices } from "../../../src/domain/catalog/Prices.ts"
import { parseNano } from "../../../src/domain/money/Money.ts"
import { tokensPerSecond } from "../../../src/domain/video/tiers.ts"
import { chargeVideo } from "../../../src/domain/video/VideoCharge.ts"
import { quoteByTable } from "../../../src/domain/video/VideoQuote.ts"
import type { VideoFacts } from "../../../src/domain/video/videoFacts.ts"
import type { VideoTable } from "../../../src/domain/video/videoPriceTable.ts"

interface Page {
  readonly unit: VideoTable["unit"]
  readonly lines: ReadonlyArray<{ readonly price: string; readonly [fact: string]: unknown }>
  readonly surcharge?: { readonly beyond: number; readonly price: string }
  /** Orders, with the price of the line that is theirs, and of all their reference images. */
  readonly orders: ReadonlyArray<
    readonly [
      order: Partial<VideoFacts>,
      price: string,
      references?: { readonly images: number; readonly price: string }
    ]
  >
}

const silent = { sound: false }
const sounding = { sound: true }

/** A page that distinguishes resolutions with and without sound. */
const soundPage = (
  unit: VideoTable["unit"],
  prices: ReadonlyArray<readonly [VideoFacts["resolution"], silent: string, sounding: string]>
): Page => ({
  unit,
  lines: prices.flatMap(([resolution, quiet, loud]) => [
    { resolution, sound: false, price: quiet },
    { resolution, sound: true, price: loud }
  ]),
  orders: prices.flatMap(([resolution, quiet, loud]) => [
    [{ resolution, ...silent }, quiet] as const,
    [{ resolution, ...sounding }, loud] as const
  ])
})

/** A page that distinguishes 4K. */
const sharpPage = (usual: string, sharp: string): Page => ({
  unit: "second",
  lines: [{ price: usual }, { resolution: "4K", price: sharp }],
  orders: [
    [{ resolution: "720p" }, usual],
    [{ resolution: "4K" }, sharp]
  ]
})

/** A page of tokens that distinguishes a reference video, and 1080p. */
const tokenPage = (base: string, baseVideo: string, high: string, highVideo: string): Page => ({
  unit: "token",
  lines: [
    { input_video: false, price: base },
    { input_video: true, price: baseVideo },
    { resolution: "1080p", input_video: false, price: high },
    { resolution: "1080p", input_video: true, price: highVideo }
  ],
  orders: [
    [{ resolution: "720p" }, base],
    [{ resolution: "720p", withVideo: true, mode: "reference" }, baseVideo],
    [{ resolution: "1080p" }, high],
    [{ resolution: "1080p", withVideo: true, mode: "reference" }, highVideo]
  ]
})

const clip = (price: string): Page => ({ unit: "clip", lines: [{ price }], orders: [[{}, price]] })

const pages: Readonly<Record<string, Page>> = {
  "kling 3.0": soundPage("second", [
    ["720p", "0.084", "0.126"],
    ["1080p", "0.112", "0.168"],
    ["4K", "0.42", "0.42"]
  ]),
  "kling 3.0 at a reseller": soundPage("second", [
    ["720p", "0.1764", "0.2646"],
    ["1080p", "0.2352", "0.3528"],
    ["4K", "0.441", "0.441"]
  ]),
  "kling 3.0 omni at a reseller": {
    unit: "second",
    lines: [
      { input_video: false, sound: false, price: "0.112" },
      { input_video: false, sound: true, price: "0.14" },
      { input_video: true, price: "0.168" }
    ],
    orders: [
      [silent, "0.112"],
      [sounding, "0.14"],
      [{ ...silent, withVideo: true, mode: "reference" }, "0.168"]
    ]
  },
  "veo 3.1": sharpPage("0.4", "0.6"),
  "veo 3.1 fast": sharpPage("0.15", "0.35"),
  "veo 3.1 lite": {
    unit: "second",
    lines: [
      { resolution: "720p", price: "0.05" },
      { resolution: "1080p", price: "0.08" }
    ],
    orders: [
      [{ resolution: "720p" }, "0.05"],
      [{ resolution: "1080p" }, "0.08"]
    ]
  },
  "veo 3.1 fast at a reseller": {
    unit: "second",
    lines: [
      { resolution: "4K", sound: false, price: "0.204" },
      { resolution: "4K", sound: true, price: "0.238" }
    ],
    orders: [
      [{ resolution: "4K", ...silent }, "0.204"],
      [{ resolution: "4K", ...sounding }, "0.238"]
    ]
  },
  "veo 3.1 fast by the video": clip("0.2"),
  "veo 3.1 by the video": clip("1.5"),
  "wan 2.6 at a reseller": {
    unit: "second",
    lines: [
      { resolution: "720p", price: "0.08" },
      { resolution: "1080p", price: "0.12" }
    ],
    orders: [
      [{ resolution: "720p" }, "0.08"],
      [{ resolution: "1080p", mode: "image" }, "0.12"]
    ]
  },
  "wan 2.6 flash": soundPage("second", [
    ["720p", "0.15", "0.3"],
    ["1080p", "0.25", "0.5"]
  ]),
  "vidu q3 at a reseller": {
    unit: "second",
    lines: [
      { resolution: "540p", price: "0.0887" },
      { resolution: "720p", price: "0.195" },
      { resolution: "1080p", price: "0.195" }
    ],
    orders: [
      [{ resolution: "540p" }, "0.0887"],
      [{ resolution: "720p" }, "0.195"],
      [{ resolution: "1080p" }, "0.195"]
    ]
  },
  "hailuo h3 with references beyond the fifth": {
    unit: "token",
    surcharge: { beyond: 5, price: "0.02" },
    lines: [{ price: "12" }],
    orders: [
      [{ mode: "reference" }, "12", { images: 5, price: "0" }],
      [{ mode: "reference" }, "12", { images: 9, price: "0.08" }]
    ]
  },
  "seedance 1.5 pro": {
    unit: "token",
    lines: [
      { sound: false, price: "8" },
      { sound: true, price: "16" }
    ],
    orders: [
      [silent, "8"],
      [sounding, "16"]
    ]
  },
  "seedance 2.0": tokenPage("46", "28", "51", "31"),
  "seedance 2.0 fast": tokenPage("37", "22", "37", "22"),
  "seedance 2.0 mini": tokenPage("23", "14", "23", "14"),
  "seedance 2.5": tokenPage("70", "42", "77", "46")
}

const decodePrices = Schema.decodeUnknownSync(Prices)

const tableOf = ({ unit, lines, surcharge }: Page): VideoTable => {
  const prices = decodePrices({
    kind: "video_table",
    unit,
    lines,
    ...(surcharge === undefined ? {} : { reference_surcharge: surcharge })
  })
  assert(prices.kind === "video_table")
  return prices
}

const cases = Object.entries(pages).flatMap(([name, page]) =>
  page.orders.map(([order, price, references = { images: 0, price: "0" }]) => ({
    name,
    page,
    order,
    price,
    references
  }))
)

describe("published price pages", () => {
  it("are forty lines or more", () => assert.isAtLeast(cases.length, 40))

  it.each(cases)("$name: $order at $price", ({ page, order, price, references }) => {
    const facts: VideoFacts = {
      resolution: "720p",
      sound: false,
      withVideo: false,
      mode: "text",
      ...order
    }
    const { resolution, withVideo } = facts
    const inputs = {
      ...(withVideo ? { videos: 1, videoSeconds: 4 } : { videos: 0, videoSeconds: null }),
      referenceImages: references.images
    }
    const extra = Result.getOrThrow(parseNano(references.price))
    for (const seconds of [4, 5, 15]) {
      const sku = { seconds, resolution, billedResolution: resolution }
      const quote = Result.getOrThrow(quoteByTable(tableOf(page), facts, sku, inputs))
      const tokens = BigInt(seconds + (withVideo ? 4 : 0)) * tokensPerSecond[resolution]
      const nano = Result.getOrThrow(parseNano(price))
      const amounts: Record<VideoTable["unit"], readonly [held: bigint, charged: bigint]> = {
        second: [BigInt(seconds) * nano, BigInt(seconds) * nano],
        clip: [nano, nano],
        token: [(((tokens * 110n) / 100n) * nano) / 1_000_000n, (tokens * nano) / 1_000_000n]
      }
      const [held, charged] = amounts[page.unit]
      assert.strictEqual(quote.holdNano, held + extra)
      const silentVendor = { completionTokens: null, outputSeconds: null }
      assert.strictEqual(chargeVideo(quote, silentVendor).chargeNano, charged + extra)
      if (page.unit === "token") {
        const reported = { ...silentVendor, completionTokens: tokens + 900n }
        const { chargeNano } = chargeVideo(quote, reported)
        assert.strictEqual(chargeNano, ((tokens + 900n) * nano) / 1_000_000n + extra)
      }
    }
  })
})
