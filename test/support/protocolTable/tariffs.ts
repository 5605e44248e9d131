/** What orders of the protocol catalog hold and cost, worked out by hand from its price lists. */
import { toNano } from "../amounts.ts"

/** Resolutions as this table writes them. */
export type Tier = "480p" | "540p" | "720p" | "1080p" | "4k"

interface Priced {
  /** Seconds of the output; those prepaid for the hold, those rendered for the charge. */
  readonly seconds: number
  readonly tier: Tier
  readonly withVideo: boolean
}

export interface Tariff {
  readonly holdNano: (order: Priced) => bigint
  readonly chargeNano: (order: Priced) => bigint
  /** Why the charge is what it is. */
  readonly basis: "upstream_usage" | "ordered_seconds"
}

/** Price of one output second: tokens of a second at 16:9 times the price of a token. */
const tokenSecond: Readonly<Record<Tier, readonly [without: string, withVideo: string]>> = {
  "480p": ["0.44712", "0.27216"],
  "540p": ["0.5589", "0.3402"],
  "720p": ["0.9936", "0.6048"],
  "1080p": ["2.49696", "1.51776"],
  "4k": ["5.0544", "3.1104"]
}

/** Nano-units of one token, without and with a reference video. */
const token: Readonly<Record<Tier, readonly [without: bigint, withVideo: bigint]>> = {
  "480p": [46_000n, 28_000n],
  "540p": [46_000n, 28_000n],
  "720p": [46_000n, 28_000n],
  "1080p": [51_000n, 31_000n],
  "4k": [26_000n, 16_000n]
}

/** What the vendor renders at 16:9 and 9:16, in pixels a frame. */
const pixels: Readonly<Record<Tier, number>> = {
  "480p": 864 * 496,
  "540p": 960 * 540,
  "720p": 1280 * 720,
  "1080p": 1920 * 1080,
  "4k": 3840 * 2160
}

/** A reference video whose length nobody knows counts as four seconds, here and at the vendor. */
const inputSeconds = ({ withVideo }: Priced): number => (withVideo ? 4 : 0)

export const tokenTariff: Tariff = {
  holdNano: (order) =>
    BigInt(order.seconds + inputSeconds(order)) *
    toNano(tokenSecond[order.tier][order.withVideo ? 1 : 0]),
  chargeNano: (order) => {
    const frames = 24 * (order.seconds + inputSeconds(order)) + 1
    const tokens = Math.floor((pixels[order.tier] * frames) / 1024)
    return BigInt(tokens) * token[order.tier][order.withVideo ? 1 : 0]
  },
  basis: "upstream_usage"
}

const second: Readonly<Record<Tier, string>> = {
  "480p": "0.3",
  "540p": "0.4",
  "720p": "0.6",
  "1080p": "1.1",
  "4k": "2.3"
}

const seconds = ({ seconds, tier }: Priced): bigint => BigInt(seconds) * toNano(second[tier])

export const secondTariff: Tariff = {
  holdNano: seconds,
  chargeNano: seconds,
  basis: "ordered_seconds"
}
