import type { VideoQuote } from "./VideoPricing.ts"

/** What takes about as long as another of the same kind. */
export interface VideoKind {
  readonly model: string
  /** Output seconds; `"smart"` where the model chooses. */
  readonly seconds: number | "smart"
  /** The resolution that is billed. */
  readonly resolution: string
}

export const kindOf = (model: string, quote: VideoQuote): VideoKind => ({
  model,
  seconds: quote.kind === "token_video" && quote.smart ? "smart" : quote.outputSeconds,
  resolution: quote.resolution
})
