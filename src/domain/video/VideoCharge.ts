/**
 * The charge of a finished video, by the quote that was stored with its hold and the usage that the
 * vendor reports.
 */
import { amountBeside, type ChargePart } from "../money/chargeParts.ts"
import type { ChargeBasis } from "../money/charges.ts"
import type { VendorBill } from "../money/vendorBill.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import { type Resolution, tokensPerSecond } from "./tiers.ts"
import {
  EXPOSURE_PERCENT,
  surchargeParts,
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
  /** The surcharge beside the units; missing if there is none. */
  readonly parts?: ReadonlyArray<ChargePart>
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
  /** The output seconds and those of the reference videos; missing if not reported. */
  readonly totalSeconds?: number
  /** The resolution and the sound of the video; missing if not reported. */
  readonly resolution?: Resolution
  readonly sound?: boolean
  /** What the vendor says that it bills; missing if not reported. It never changes the charge. */
  readonly bill?: VendorBill
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
  if (quote.isCapped === true) {
    return quote.kind === "video_table" ? quote.units : quote.holdNano / quote.nanoPerToken
  }
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

/**
 * The rendered seconds that the vendor reports; null if it reports none. A total is split only where
 * the other part of it is known.
 */
const renderedSeconds = (
  { withVideo }: Pick<TableVideoQuote, "withVideo">,
  { outputSeconds, inputSeconds, totalSeconds = 0 }: VideoUsage
): number | null => {
  const input = withVideo ? inputSeconds : 0
  const rendered = outputSeconds ?? (input === undefined ? 0 : totalSeconds - input)
  return rendered > 0 ? rendered : null
}

/** The tokens by the formula, with the rendered duration if the model chose it. */
const formulaTokens = (quote: TokenQuote, usage: VideoUsage): bigint => {
  const rendered = (quote.smart ? renderedSeconds(quote, usage) : null) ?? quote.outputSeconds
  if (quote.kind === "token_video") {
    return BigInt(quote.inputSeconds + rendered) * quote.tokensPerSecond
  }
  const unused = BigInt(quote.outputSeconds - rendered) * quote.tokensPerSecond
  const tokens = quote.estimatedTokens - unused
  return tokens > quote.leastTokens ? tokens : quote.leastTokens
}

/** The seconds of the reference videos, also as the rest of a total; null if not reported. */
const inputSecondsOf = (
  { inputSeconds, totalSeconds = 0 }: VideoUsage,
  outputSeconds: number | null
): number | null => {
  if (inputSeconds !== undefined) return inputSeconds
  return outputSeconds !== null && totalSeconds > outputSeconds
    ? totalSeconds - outputSeconds
    : null
}

/**
 * Seconds of a price table: the ordered ones, except that the vendor's report counts where the
 * model chose the duration and where input seconds are billed. A part that is not reported counts
 * as held, and so does a report of more seconds than are held or of less than any video has.
 */
const chargeSeconds = (
  quote: Extract<TableVideoQuote, { readonly unit: "second" }>,
  usage: VideoUsage
): VideoCharge => {
  const heldInput = quote.billsInput ? quote.inputSeconds : 0
  const reportedOutput = quote.smart ? renderedSeconds(quote, usage) : quote.outputSeconds
  const reportedInput = heldInput > 0 ? inputSecondsOf(usage, reportedOutput) : 0
  const [input, output] = [reportedInput ?? heldInput, reportedOutput ?? quote.outputSeconds]
  const chargeFor = (
    inputSeconds: number,
    outputSeconds: number,
    basis: VideoCharge["basis"]
  ): VideoCharge => {
    const billed = Math.max(inputSeconds + outputSeconds, quote.leastSeconds ?? 0)
    return {
      chargeNano: BigInt(billed) * quote.nanoPerUnit,
      ...(inputSeconds === 0 ? {} : { inputUnits: BigInt(inputSeconds) }),
      units: BigInt(billed - inputSeconds),
      basis,
      implausible: null
    }
  }
  const implausible = { input: heldInput > 0 ? BigInt(input) : null, output: BigInt(output) }
  if (BigInt(input + output) > quote.units) {
    return { ...chargeFor(heldInput, quote.outputSeconds, "largest_plausible"), implausible }
  }
  if (quote.smart && output < SHORTEST_SECONDS) {
    return { ...chargeFor(input, quote.outputSeconds, "formula"), implausible }
  }
  if (!quote.smart && heldInput === 0) return chargeFor(input, output, "ordered_seconds")
  const isReported = reportedInput !== null && reportedOutput !== null
  return chargeFor(input, output, isReported ? "upstream_usage" : "formula")
}

/**
 * The quote with the price of the video that the vendor reports, if that is lower than the price of
 * the ordered one: a lower resolution, or other sound. A report never leads to a higher price.
 */
export const asRendered = (quote: VideoQuote, usage: VideoUsage): VideoQuote => {
  if (quote.kind !== "video_table") return quote
  const { cheaperLines = [], pricedFacts } = quote
  const resolution = usage.resolution ?? quote.resolution
  const sound = usage.sound ?? quote.sound
  const line = cheaperLines.find(
    (lower) =>
      lower.resolution === resolution && (lower.sound === sound || !pricedFacts.includes("sound"))
  )
  if (line === undefined) return quote
  const rendered = { ...quote, ...line, cheaperLines: [] }
  if (rendered.unit !== "token") return rendered
  const perSecond = tokensPerSecond[line.resolution]
  const tokens = (rendered.estimatedTokens * perSecond) / rendered.tokensPerSecond
  const { leastTokens } = rendered
  return {
    ...rendered,
    tokensPerSecond: perSecond,
    estimatedTokens: tokens > leastTokens ? tokens : leastTokens
  }
}

/** The charge of the tokens, the seconds or the clip. */
const chargeUnits = (quote: VideoQuote, usage: VideoUsage): VideoCharge => {
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
      return { chargeNano: quote.nanoPerUnit, units: 1n, basis: "ordered_clip", implausible: null }
  }
}

/**
 * The charge of a finished task, by the quote that was stored with its hold. A surcharge is charged
 * as held, since no report of the vendor changes the images that were ordered.
 */
export const chargeVideo = (ordered: VideoQuote, usage: VideoUsage): VideoCharge => {
  const charge = chargeUnits(asRendered(ordered, usage), usage)
  const parts = ordered.kind === "video_table" ? surchargeParts(ordered) : []
  return parts.length === 0
    ? charge
    : { ...charge, chargeNano: charge.chargeNano + amountBeside(parts), parts }
}
