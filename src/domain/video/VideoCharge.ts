/**
 * The charge of a finished video, by the quote that was stored with its hold and the usage that the
 * vendor reports.
 */
import type { ChargeBasis } from "../money/charges.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import {
  EXPOSURE_PERCENT,
  type TableVideoQuote,
  type TokenVideoQuote,
  type VideoQuote
} from "./VideoQuote.ts"

export interface VideoCharge {
  readonly chargeNano: bigint
  /** The number of input seconds charged; missing unless a price table bills them. */
  readonly inputUnits?: bigint
  /** The number of tokens or seconds charged; 1 for a clip. */
  readonly units: bigint
  readonly basis: Exclude<ChargeBasis, "requested_images" | "unread_answer">
  /**
   * The usage that the vendor reported, if it is implausible for this order; null if the charge
   * follows the vendor's report.
   */
  readonly implausible: ReportedUsage | null
}

/** The usage reported with the finished task; a value is null if it was missing or unusable. */
export interface VideoUsage {
  readonly completionTokens: bigint | null
  /**
   * The rendered duration, if the vendor reports it. It is used only if the model chose the
   * duration.
   */
  readonly outputSeconds: number | null
  /** The seconds of the reference videos; missing if the vendor does not report them. */
  readonly inputSeconds?: number
}

/**
 * The maximum plausible ratio of reported to estimated tokens, for orders whose size is known: a
 * vendor may render another size than assumed, for example if its API accepts no resolution.
 */
const PLAUSIBLE_TIMES = 2n

/**
 * The divisor for the minimum plausible token count: vendors bill drafts at 0.6 or more of the
 * ordered frames.
 */
const LEAST_SHARE = 2n

/** The minimum duration of a video whose model chooses the duration. */
const SHORTEST_SECONDS = 2

type TokenQuote = TokenVideoQuote | Extract<TableVideoQuote, { readonly unit: "token" }>

/** The maximum number of tokens charged for an order, whatever the vendor reports. */
const mostTokens = (quote: TokenQuote): bigint => {
  if (quote.kind === "token_video" && quote.exposureNano !== undefined) {
    return quote.exposureNano / quote.nanoPerToken
  }
  // The hold exceeds the margin of the formula only if the length of a reference video is unknown;
  // the hold then covers the most that the video can have.
  const isLengthUnknown =
    quote.kind === "video_table" && quote.units > (quote.estimatedTokens * EXPOSURE_PERCENT) / 100n
  return isLengthUnknown ? quote.units : quote.estimatedTokens * PLAUSIBLE_TIMES
}

/**
 * The minimum plausible number of tokens: some vendors count no input, but all count the rendered
 * output.
 */
export const leastTokens = (quote: TokenQuote): bigint =>
  (BigInt(quote.smart ? SHORTEST_SECONDS : quote.outputSeconds) * quote.tokensPerSecond) /
  LEAST_SHARE

/**
 * Tokens are charged by the vendor's count, even above the hold. A count above the plausible
 * maximum is charged at that maximum. A count below the plausible minimum, and a missing count, are
 * replaced by the formula.
 */
const chargeTokens = (quote: TokenQuote, usage: VideoUsage): VideoCharge => {
  const nanoPerToken = quote.kind === "video_table" ? quote.nanoPerUnit : quote.nanoPerToken
  const chargeFor = (
    units: bigint,
    basis: VideoCharge["basis"],
    implausible: ReportedUsage | null
  ): VideoCharge => ({ chargeNano: units * nanoPerToken, units, basis, implausible })
  const maxTokens = mostTokens(quote)
  const countedTokens = usage.completionTokens
  if (countedTokens !== null && countedTokens >= leastTokens(quote)) {
    return countedTokens <= maxTokens
      ? chargeFor(countedTokens, "upstream_usage", null)
      : chargeFor(maxTokens, "largest_plausible", { input: null, output: countedTokens })
  }
  const tokens = formulaTokens(quote, usage)
  return chargeFor(
    tokens <= maxTokens ? tokens : maxTokens,
    "formula",
    countedTokens === null ? null : { input: null, output: countedTokens }
  )
}

/** The tokens by the formula, with the rendered duration if the model chose it. */
const formulaTokens = (quote: TokenQuote, { outputSeconds }: VideoUsage): bigint => {
  const rendered = (quote.smart ? outputSeconds : null) ?? quote.outputSeconds
  if (quote.kind === "token_video") {
    return BigInt(quote.inputSeconds + rendered) * quote.tokensPerSecond
  }
  const unused = BigInt(quote.outputSeconds - rendered) * quote.tokensPerSecond
  const tokens = quote.estimatedTokens - unused
  return tokens > quote.leastTokens ? tokens : quote.leastTokens
}

/**
 * Seconds of a price table: the ordered ones, except that the vendor's report counts where the
 * model chose the duration and where input seconds are billed. More seconds than are held are not
 * plausible, so that then the held ones are charged.
 */
const chargeSeconds = (
  quote: Extract<TableVideoQuote, { readonly unit: "second" }>,
  { outputSeconds, inputSeconds }: VideoUsage
): VideoCharge => {
  const heldInput = quote.billsInput ? quote.inputSeconds : 0
  const reportedInput = heldInput > 0 ? (inputSeconds ?? null) : 0
  const reportedOutput = quote.smart ? outputSeconds : quote.outputSeconds
  const chargeFor = (
    input: bigint,
    output: bigint,
    basis: VideoCharge["basis"],
    implausible: ReportedUsage | null
  ): VideoCharge => ({
    chargeNano: (input + output) * quote.nanoPerUnit,
    ...(input === 0n ? {} : { inputUnits: input }),
    units: output,
    basis,
    implausible
  })
  const input = BigInt(reportedInput ?? heldInput)
  const output = BigInt(reportedOutput ?? quote.outputSeconds)
  if (input + output > quote.units) {
    const implausible = { input: heldInput > 0 ? input : null, output }
    const [heldSeconds, heldOutput] = [BigInt(heldInput), BigInt(quote.outputSeconds)]
    return chargeFor(heldSeconds, heldOutput, "largest_plausible", implausible)
  }
  if (!quote.smart && heldInput === 0) return chargeFor(input, output, "ordered_seconds", null)
  const isReported = reportedInput !== null && reportedOutput !== null
  return chargeFor(input, output, isReported ? "upstream_usage" : "formula", null)
}

/** The charge of a finished task, by the quote that was stored with its hold. */
export const chargeVideo = (quote: VideoQuote, usage: VideoUsage): VideoCharge => {
  if (quote.kind === "token_video") return chargeTokens(quote, usage)
  if (quote.kind === "second_video") {
    return {
      chargeNano: quote.holdNano,
      units: BigInt(quote.outputSeconds),
      basis: "ordered_seconds",
      implausible: null
    }
  }
  switch (quote.unit) {
    case "token":
      return chargeTokens(quote, usage)
    case "second":
      return chargeSeconds(quote, usage)
    case "clip":
      return { chargeNano: quote.holdNano, units: 1n, basis: "ordered_clip", implausible: null }
  }
}
