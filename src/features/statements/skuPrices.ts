/**
 * The price of a meter as FOCUS identifies it: by the model, the meter and the facts of the order
 * that decided the price, such as the resolution. The amount is no part of it, so that the id of a
 * price is the same after a change of the price and for organisations with other price lists.
 */
import { Schema } from "effect"
import { Quote } from "../../domain/money/Quote.ts"
import type { TableVideoQuote } from "../../domain/video/VideoQuote.ts"

/** Properties of a price; FOCUS reserves names without `x_`. */
type PriceDetails = Readonly<Record<string, string>>

const decodeQuote = Schema.decodeUnknownSync(Quote)

/** The facts of the line of the price table that was charged, which can be a cheaper one. */
const tableDetails = (quote: TableVideoQuote, unitPriceNano: bigint): PriceDetails => {
  const lower =
    quote.nanoPerUnit === unitPriceNano
      ? undefined
      : quote.cheaperLines?.find(({ nanoPerUnit }) => nanoPerUnit === unitPriceNano)
  const { resolution, sound, withVideo, mode } = { ...quote, ...lower }
  const facts = {
    resolution: ["x_Resolution", resolution],
    sound: ["x_Sound", sound === null ? "any" : `${sound}`],
    input_video: ["x_InputVideo", `${withVideo}`],
    mode: ["x_InputMode", mode]
  } as const
  return Object.fromEntries(quote.pricedFacts.map((name) => facts[name]))
}

/** The facts of an order that decided the price of its unit; empty where a model has one price. */
const detailsOf = (quote: Quote, unitPriceNano: bigint): PriceDetails => {
  switch (quote.kind) {
    case "token_video":
      return { x_PriceTier: quote.tier, x_InputVideo: `${quote.withVideo}` }
    case "second_video":
      return { x_Resolution: quote.resolution }
    case "video_table":
      return tableDetails(quote, unitPriceNano)
    case "image": {
      if (quote.tier === undefined) return {}
      const { quality, size, edit } = quote.tier
      const facts = { x_Quality: quality, x_Size: size }
      return edit === undefined ? facts : { ...facts, x_Edit: `${edit}` }
    }
    case "tokens":
    case "characters":
    case "audio_seconds":
    case "searches":
    case "image_tokens":
      return {}
  }
}

interface PricedMeter {
  readonly model: string | null
  readonly meter: string
  readonly unitPriceNano: bigint
  /** The stored quote; null for a meter whose price does not depend on the order. */
  readonly quote: unknown
}

/** The id of a meter's price, such as `clip-1/seconds/Resolution=720p`, and its properties. */
export const skuPriceOf = ({ model, meter, unitPriceNano, quote }: PricedMeter) => {
  const details = quote === null ? {} : detailsOf(decodeQuote(quote), unitPriceNano)
  const facts = Object.entries(details).map(([name, value]) => `${name.slice(2)}=${value}`)
  return {
    SkuPriceDetails: Object.keys(details).length === 0 ? null : details,
    SkuPriceId: [model, meter, ...facts].join("/")
  }
}
