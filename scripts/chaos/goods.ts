/**
 * The products that are ordered in a run, with their prices. The prices are stated here
 * independently of the gateway's own rules.
 */

import { demoCatalog } from "../../src/demoCatalog.ts"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"

export interface Good {
  readonly model: string
  readonly kind: "video" | "image" | "text"
  readonly protocol: string
  readonly upstreamModel: string
  /** Whether clients get an address of the gateway, as the vendor's needs its key; false if missing. */
  readonly isLinked?: boolean
  /** The resolution of an order; 720p if missing. */
  readonly resolution?: string
  /** The minimum and maximum number of seconds, of images, or of output tokens of one order. */
  readonly units: readonly [least: number, most: number]
  /** The hold of an order; null for texts, whose hold is an estimate by their size. */
  readonly holdNano: ((units: number) => bigint) | null
  /**
   * The charge of an order; `tokens` is the number that the vendor reported, null when it reported
   * none. Null for texts, which are charged by their own counts.
   */
  readonly chargeNano: ((units: number, tokens: number | null) => bigint) | null
  /** How frequently the product is ordered, relative to the others. */
  readonly weight: number
}

const perUnit = (nano: bigint) => ({
  holdNano: (units: number) => BigInt(units) * nano,
  chargeNano: (units: number) => BigInt(units) * nano
})

/** The price of 46 per million tokens, in nano-units per token. */
const NANO_PER_TOKEN = 46_000n
const TOKENS_PER_SECOND = (1280n * 720n * 24n) / 1024n
const byFormula = (seconds: number) => BigInt(seconds) * TOKENS_PER_SECOND * NANO_PER_TOKEN

export const goods: ReadonlyArray<Good> = [
  {
    model: "film-1",
    kind: "video",
    protocol: "vp_a",
    upstreamModel: "doubao-seedance-2-0-260128",
    units: [5, 12],
    holdNano: byFormula,
    chargeNano: (seconds, tokens) => {
      const ordered = byFormula(seconds)
      const counted = tokens === null ? ordered : BigInt(tokens) * NANO_PER_TOKEN
      if (2n * counted < ordered) return ordered
      return counted > 2n * ordered ? 2n * ordered : counted
    },
    weight: 4
  },
  {
    model: "clip-1",
    kind: "video",
    protocol: "vp_d",
    upstreamModel: "kling-v3-omni",
    units: [3, 12],
    ...perUnit(600_000_000n),
    weight: 3
  },
  {
    model: "motion-1",
    kind: "video",
    protocol: "vp_e",
    upstreamModel: "viduq3-pro",
    units: [2, 9],
    ...perUnit(500_000_000n),
    weight: 1
  },
  {
    model: "clip-9",
    kind: "video",
    protocol: "fal",
    upstreamModel: "fal-ai/bytedance/seedance/v1/pro/text-to-video",
    units: [2, 12],
    ...perUnit(600_000_000n),
    weight: 2
  },
  {
    model: "clip-10",
    kind: "video",
    protocol: "replicate",
    upstreamModel: "bytedance/seedance-1-pro",
    units: [2, 12],
    ...perUnit(600_000_000n),
    weight: 2
  },
  {
    model: "shot-1",
    kind: "video",
    protocol: "veo",
    upstreamModel: "veo-3.1-generate-preview",
    isLinked: true,
    units: [8, 8],
    ...perUnit(400_000_000n),
    weight: 1
  },
  {
    model: "reel-1",
    kind: "video",
    protocol: "minimax",
    upstreamModel: "MiniMax-H3",
    resolution: "768p",
    units: [4, 12],
    ...perUnit(80_000_000n),
    weight: 1
  },
  {
    model: "paint-1",
    kind: "image",
    protocol: "ip_a",
    upstreamModel: "sim-paint-1",
    units: [1, 6],
    ...perUnit(200_000_000n),
    weight: 3
  },
  {
    model: "paint-2",
    kind: "image",
    protocol: "ip_b",
    upstreamModel: "qwen-image-2.0",
    units: [1, 6],
    ...perUnit(250_000_000n),
    weight: 2
  },
  {
    model: "paint-10",
    kind: "image",
    protocol: "replicate",
    upstreamModel: "black-forest-labs/flux-schnell",
    units: [1, 4],
    ...perUnit(20_000_000n),
    weight: 1
  },
  {
    model: "talk-1",
    kind: "text",
    protocol: "openai",
    upstreamModel: "sim-talk-1",
    units: [16, 64],
    holdNano: null,
    chargeNano: null,
    weight: 3
  }
]

/**
 * The protocols whose only channel makes a number of videos at a time; the orders of its models may
 * wait for a place.
 */
export const placesOf: ReadonlyMap<string, number> = new Map([
  ["vp_d", 3],
  ["fal", 1]
])

/** The only channel of such a protocol. */
export const channelIdOf = (protocol: string): string => `demo-${protocol}`

const sold = new Set(goods.map(({ model }) => model))

const withPlaces = (channel: (typeof CatalogWrite.Encoded)["channels"][number]) => {
  const limited = [...placesOf].find(([protocol]) => channel.id === channelIdOf(protocol))
  return limited === undefined ? channel : { ...channel, max_tasks: limited[1] }
}

/** The catalog of the ordered demo models, mounted on the simulator. */
export const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const { channels, models, mounts } = demoCatalog(simulatorUrl)
  return {
    channels: channels.map(withPlaces),
    models: models.filter(({ id }) => sold.has(id)),
    mounts: mounts.filter(({ model }) => sold.has(model))
  }
}
