/**
 * The resolutions of videos, with the parameters of their prices. The allowed resolutions of
 * protocols, the prices in the catalog, the estimates and the API contract all derive from this
 * table.
 */
import { Record as EffectRecord, Schema, Struct } from "effect"

interface Tier {
  /** The price tier; `base` is also the fallback for a tier without its own price. */
  readonly price: string
  /** The dimensions of a frame at 16:9, in pixels. */
  readonly width: number
  readonly height: number
}

const table = {
  "480p": { price: "base", width: 864, height: 480 },
  "540p": { price: "base", width: 960, height: 540 },
  "720p": { price: "base", width: 1280, height: 720 },
  // 1366 columns would give no whole number of tokens a second.
  "768p": { price: "base", width: 1360, height: 768 },
  "1080p": { price: "1080p", width: 1920, height: 1088 },
  "2K": { price: "2K", width: 2560, height: 1440 },
  "4K": { price: "4K", width: 3840, height: 2160 }
} as const satisfies Record<string, Tier>

export const Resolution = Schema.Literals(Struct.keys(table))
export type Resolution = typeof Resolution.Type

const bySpelling = new Map(Resolution.literals.map((name) => [name.toLowerCase(), name] as const))

/** Reads a resolution in any case, such as `1080P`; undefined for every other value. */
export const readResolution = (value: unknown): Resolution | undefined =>
  typeof value === "string" ? bySpelling.get(value.toLowerCase()) : undefined

export const tiers: Readonly<Record<Resolution, Tier & { readonly price: PriceTier }>> = table

export type PriceTier = (typeof table)[Resolution]["price"]
export const PriceTier = Schema.Literals([
  ...new Set(Resolution.literals.map((resolution): PriceTier => table[resolution].price))
])

const FRAMES_PER_SECOND = 24
const PIXELS_PER_TOKEN = 1024

/**
 * The tokens of one second at 16:9. A tier without a whole number of tokens fails when this module
 * is loaded.
 */
export const tokensPerSecond: Readonly<Record<Resolution, bigint>> = EffectRecord.map(
  tiers,
  ({ width, height }) => BigInt((width * height * FRAMES_PER_SECOND) / PIXELS_PER_TOKEN)
)
