/**
 * Checks an order against its protocol and fills in the defaults once, for both the vendor request
 * and the price.
 */
import { Array as Arr, Result } from "effect"
import type { Prices } from "../catalog/Prices.ts"
import { VideoSkuInvalid } from "../Errors.ts"
import { Resolution, tiers } from "./tiers.ts"
import type { VideoInput } from "./VideoInput.ts"
import {
  DEFAULT_RESOLUTION,
  defaultSecondsOf,
  SMART_SECONDS,
  type VideoBilling,
  type VideoProtocolRow
} from "./VideoProtocol.ts"

export interface VideoSku {
  /** The output seconds; `"smart"` lets the model choose. */
  readonly seconds: number | "smart"
  /**
   * The resolution sent to the vendor, in the protocol's spelling; null if the protocol accepts
   * none.
   */
  readonly resolution: Resolution | null
  /** The billed resolution: the one sent, or 720p if none is sent. */
  readonly billedResolution: Resolution
}

/** The fields of a protocol's row that define what can be ordered. */
type VideoOffer = Pick<VideoProtocolRow, "seconds" | "smart" | "resolutions">

const smartness = ["always", "token_billed", "never"] as const

export const mayBeSmart = ({ smart }: VideoOffer, billing: Prices["kind"] | undefined): boolean =>
  smart === "always" || (smart === "token_billed" && billing === "token_video")

const checkSeconds = (
  row: VideoOffer,
  billing: VideoBilling,
  seconds: VideoInput["seconds"]
): Result.Result<number | "smart", VideoSkuInvalid> => {
  const [min, max] = row.seconds
  const smart = mayBeSmart(row, billing)
  if (seconds === null) return Result.succeed(defaultSecondsOf(row))
  if (typeof seconds === "number") {
    if (seconds >= min && seconds <= max) return Result.succeed(seconds)
    if (smart && seconds === SMART_SECONDS) return Result.succeed("smart")
  }
  const requested = typeof seconds === "number" ? seconds : Number.parseFloat(seconds)
  const nearest = Number.isFinite(requested)
    ? Math.min(Math.max(Math.round(requested), min), max)
    : defaultSecondsOf(row)
  const alternative = smart ? `, or ${SMART_SECONDS} to let the model choose` : ""
  return Result.fail(
    new VideoSkuInvalid({
      message:
        `duration ${JSON.stringify(seconds)} is not offered: this model takes whole seconds from ` +
        `${min} to ${max}${alternative}. The nearest is ${nearest}.`,
      param: "duration",
      allowed: { min, max, smart },
      nearest
    })
  )
}

/**
 * The number of pixel rows in a requested resolution: `1080p` and `1080` are 1080, `8k` is 4320;
 * null if the text is no resolution.
 */
const rowsIn = (requested: string): number | null => {
  const match = /^(\d{1,5})\s*([pk])?$/i.exec(requested.trim())
  if (match === null) return null
  const [, digits, unit] = match
  return Number(digits) * (unit?.toLowerCase() === "k" ? 540 : 1)
}

type OfferedResolutions = readonly [Resolution, ...ReadonlyArray<Resolution>]

const defaultResolutionOf = (offeredResolutions: OfferedResolutions): Resolution =>
  offeredResolutions.includes(DEFAULT_RESOLUTION) ? DEFAULT_RESOLUTION : offeredResolutions[0]

const nearestResolution = (
  requested: string,
  offeredResolutions: OfferedResolutions
): Resolution => {
  const resolutionName = Resolution.literals.find((name) => name.toLowerCase() === requested)
  const rows = resolutionName === undefined ? rowsIn(requested) : tiers[resolutionName].height
  if (rows === null) return defaultResolutionOf(offeredResolutions)
  const distance = (resolution: Resolution) => Math.abs(tiers[resolution].height - rows)
  return offeredResolutions.reduce((best, next) => (distance(next) < distance(best) ? next : best))
}

const checkResolution = (
  row: VideoOffer,
  resolution: string | null
): Result.Result<Resolution | null, VideoSkuInvalid> => {
  const [first, ...others] = row.resolutions
  if (first === undefined) return Result.succeed(null)
  const offeredResolutions = [first, ...others] as const
  if (resolution === null) return Result.succeed(defaultResolutionOf(offeredResolutions))
  const requested = resolution.toLowerCase()
  const match = offeredResolutions.find((name) => name.toLowerCase() === requested)
  if (match !== undefined) return Result.succeed(match)
  const nearest = nearestResolution(requested, offeredResolutions)
  return Result.fail(
    new VideoSkuInvalid({
      message:
        `resolution ${JSON.stringify(resolution)} is not offered: this model takes ` +
        `${offeredResolutions.join(", ")}. The nearest is ${nearest}.`,
      param: "resolution",
      allowed: offeredResolutions,
      nearest
    })
  )
}

/**
 * Resolves the SKU of an input for a protocol's row. The duration may be any whole number in the
 * row's closed interval; the resolution is matched ignoring case. Fails with the offered values and
 * the nearest one.
 */
export const resolveSku = (
  row: VideoOffer,
  billing: VideoBilling,
  input: Pick<VideoInput, "seconds" | "resolution">
): Result.Result<VideoSku, VideoSkuInvalid> =>
  Result.gen(function* () {
    const seconds = yield* checkSeconds(row, billing, input.seconds)
    const resolution = yield* checkResolution(row, input.resolution)
    return { seconds, resolution, billedResolution: resolution ?? DEFAULT_RESOLUTION }
  })

/**
 * The union of several offers: the widest interval and every resolution. A single protocol may lack
 * a part of the union. If one protocol accepts any resolution, the union accepts any.
 */
export const offeredTogether = (offers: Arr.NonEmptyReadonlyArray<VideoOffer>): VideoOffer => {
  const takesAny = offers.some(({ resolutions }) => resolutions.length === 0)
  const isOffered = (name: Resolution) =>
    offers.some(({ resolutions }) => resolutions.includes(name))
  return {
    seconds: [
      Math.min(...offers.map(({ seconds: [min] }) => min)),
      Math.max(...offers.map(({ seconds: [, max] }) => max))
    ],
    smart: smartness.find((smart) => offers.some((offer) => offer.smart === smart)) ?? "never",
    resolutions: takesAny ? [] : Resolution.literals.filter(isOffered)
  }
}

/**
 * The error for an input that no single protocol offers. The error lists the union of the offers of
 * the protocols that support the input's resolution, or of all protocols if none supports it. Null
 * if the union offers the input.
 */
export const notOffered = (
  offers: Arr.NonEmptyReadonlyArray<VideoOffer>,
  billing: VideoBilling,
  input: Pick<VideoInput, "seconds" | "resolution">
): VideoSkuInvalid | null => {
  const atResolution = offers.filter((offer) =>
    Result.isSuccess(checkResolution(offer, input.resolution))
  )
  const nearest = Arr.isReadonlyArrayNonEmpty(atResolution) ? atResolution : offers
  const sku = resolveSku(offeredTogether(nearest), billing, input)
  return Result.isFailure(sku) ? sku.failure : null
}
