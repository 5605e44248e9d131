/**
 * Checks an order against an offer and fills in the defaults once, for both the vendor request
 * and the price.
 */
import { Array as Arr, Result } from "effect"
import type { Prices } from "../catalog/Prices.ts"
import { InvalidRequest, VideoSkuInvalid } from "../Errors.ts"
import { Resolution, tiers } from "./tiers.ts"
import type { VideoInput } from "./VideoInput.ts"
import {
  DEFAULT_RESOLUTION,
  DEFAULT_SECONDS,
  SMART_SECONDS,
  type VideoBilling,
  type VideoProtocolRow
} from "./VideoProtocol.ts"
import { describeSeconds, secondsBetween, spanOf } from "./videoLimits.ts"

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

/** The durations and resolutions that can be ordered; a protocol's row has them, too. */
export interface SkuOffer
  extends Pick<
    VideoProtocolRow,
    "seconds" | "smart" | "resolutions" | "hasFixedResolution" | "secondsAt"
  > {
  /** The only durations in `seconds`, in order; every whole second if missing. */
  readonly onlySeconds?: ReadonlyArray<number>
}

const smartness = ["always", "usage_billed", "token_billed", "never"] as const

/** How an order is billed: a price table by tokens is billed like `token_video`. */
export type SkuBilling = VideoBilling | "video_table"

/** The billing of a video by its prices; undefined for missing prices and those of other orders. */
export const billingOf = (prices: Prices | undefined): SkuBilling | undefined => {
  switch (prices?.kind) {
    case "token_video":
    case "second_video":
      return prices.kind
    case "video_table":
      return prices.unit === "token" ? "token_video" : prices.kind
    default:
      return undefined
  }
}

export const mayBeSmart = ({ smart }: SkuOffer, billing: SkuBilling | undefined): boolean =>
  smart === "always" ||
  (smart === "usage_billed" && billing !== "second_video") ||
  (smart === "token_billed" && billing === "token_video")

/** The offered duration nearest to the requested one; the shorter one of two. */
const nearestSeconds = (
  { seconds: [min, max], onlySeconds = [] }: Pick<SkuOffer, "seconds" | "onlySeconds">,
  requested: number
): number => {
  const distance = (second: number) => Math.abs(second - requested)
  const [first, ...others] = onlySeconds
  return first === undefined
    ? Math.min(Math.max(Math.round(requested), min), max)
    : others.reduce((best, next) => (distance(next) < distance(best) ? next : best), first)
}

const isOfferedLength = ({ seconds: [min, max], onlySeconds }: SkuOffer, seconds: number) =>
  onlySeconds === undefined ? seconds >= min && seconds <= max : onlySeconds.includes(seconds)

/**
 * The offer with the durations of a resolution, or of the default one. Limits that leave none of them
 * stay as they are: the adapter refuses what the resolution does not have.
 */
const offerAt = (offer: SkuOffer, resolution: string | null): SkuOffer => {
  const sent = Result.getOrElse(checkResolution(offer, resolution), () => null)
  const only = sent === null ? undefined : offer.secondsAt?.[sent]
  const onlySeconds = only?.filter((second) => isOfferedLength(offer, second)) ?? []
  return onlySeconds.length === 0 ? offer : { ...offer, seconds: spanOf(onlySeconds), onlySeconds }
}

/** The default duration, or the nearest one that is offered at the resolution. */
const defaultSecondsOf = (offer: SkuOffer, resolution: string | null): number =>
  nearestSeconds(offerAt(offer, resolution), DEFAULT_SECONDS)

const checkSeconds = (
  offer: SkuOffer,
  billing: SkuBilling,
  { seconds, resolution }: Pick<VideoInput, "seconds" | "resolution">
): Result.Result<number | "smart", VideoSkuInvalid> => {
  const [min, max] = offer.seconds
  const { onlySeconds } = offer
  const smart = mayBeSmart(offer, billing)
  const defaultSeconds = defaultSecondsOf(offer, resolution)
  if (seconds === null) return Result.succeed(defaultSeconds)
  if (typeof seconds === "number") {
    if (isOfferedLength(offer, seconds)) return Result.succeed(seconds)
    if (smart && seconds === SMART_SECONDS) return Result.succeed("smart")
  }
  const requested = typeof seconds === "number" ? seconds : Number.parseFloat(seconds)
  const nearest = Number.isFinite(requested) ? nearestSeconds(offer, requested) : defaultSeconds
  const taken =
    onlySeconds === undefined
      ? `takes whole seconds from ${min} to ${max}`
      : `takes ${describeSeconds(onlySeconds)} seconds`
  const alternative = smart ? `, or ${SMART_SECONDS} to let the model choose` : ""
  return Result.fail(
    new VideoSkuInvalid({
      message:
        `duration ${JSON.stringify(seconds)} is not offered: this model ` +
        `${taken}${alternative}. The nearest is ${nearest}.`,
      param: "duration",
      allowed: onlySeconds === undefined ? { min, max, smart } : { one_of: onlySeconds, smart },
      nearest
    })
  )
}

/**
 * The number of pixel rows in a requested resolution: `1080p` and `1080` are 1080, `2 k` is 1440 as
 * in the table, `8k` is 4320; null if the text is no resolution.
 */
const rowsIn = (requested: string): number | null => {
  const match = /^(\d{1,5})\s*([pk])?$/i.exec(requested.trim())
  if (match === null) return null
  const [, digits, unit] = match
  if (unit?.toLowerCase() !== "k") return Number(digits)
  const resolution = Resolution.literals.find((name) => name === `${Number(digits)}K`)
  return resolution === undefined ? Number(digits) * 540 : tiers[resolution].height
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

/** The resolutions that an order may name; empty for any. */
const acceptedResolutions = ({
  resolutions,
  hasFixedResolution
}: SkuOffer): ReadonlyArray<Resolution> =>
  hasFixedResolution === true ? [DEFAULT_RESOLUTION] : resolutions

const checkResolution = (
  row: SkuOffer,
  resolution: string | null
): Result.Result<Resolution | null, VideoSkuInvalid> => {
  const [first, ...others] = acceptedResolutions(row)
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
 * Resolves the SKU of an input for an offer. The duration may be any whole number in the offer's
 * closed interval, or one of its list; the resolution is matched ignoring case. Fails with the offered values and
 * the nearest one.
 */
export const resolveSku = (
  row: SkuOffer,
  billing: SkuBilling,
  input: Pick<VideoInput, "seconds" | "resolution">
): Result.Result<VideoSku, VideoSkuInvalid> =>
  Result.gen(function* () {
    const seconds = yield* checkSeconds(row, billing, input)
    const resolution = yield* checkResolution(row, input.resolution)
    return {
      seconds,
      resolution: row.resolutions.length === 0 ? null : resolution,
      billedResolution: resolution ?? DEFAULT_RESOLUTION
    }
  })

const refuseDuration = (message: string) =>
  Result.fail(new InvalidRequest({ message: `duration: ${message}`, param: "duration" }))

/**
 * Resolves the SKU of an edit, which has the length of its video. `videoSeconds` is null if that
 * length is unknown: the vendor then reports it, so such an order cannot be billed by ordered
 * seconds. Fails if the order states another duration.
 */
export const resolveEdit = (
  row: SkuOffer,
  billing: SkuBilling,
  input: Pick<VideoInput, "seconds" | "resolution">,
  videoSeconds: number | null
): Result.Result<VideoSku, VideoSkuInvalid | InvalidRequest> => {
  const length = videoSeconds === null ? null : Math.max(1, Math.round(videoSeconds))
  if (length === null && billing === "second_video") {
    return Result.fail(
      new InvalidRequest({
        message:
          "video: An edit is billed by the length of its video, which is not known: give the video as a file, as a data URL or as the id of an earlier video task",
        param: "video"
      })
    )
  }
  const { seconds } = input
  if (seconds !== null && seconds !== SMART_SECONDS && seconds !== length) {
    const lengthText = length === null ? "that of its video" : `${length}, that of its video`
    return refuseDuration(`The length of an edit is ${lengthText}; leave the field out`)
  }
  // The model takes the length from the video, also where it chooses no length of its own.
  return length === null
    ? resolveSku({ ...row, smart: "always" }, billing, { ...input, seconds: SMART_SECONDS })
    : resolveSku(row, billing, { ...input, seconds: length })
}

const secondsOf = ({ seconds, onlySeconds }: Pick<SkuOffer, "seconds" | "onlySeconds">) =>
  onlySeconds ?? secondsBetween(seconds)

/** The union of the durations of several offers: an interval if it has no gap. */
const secondsTogether = (
  offers: Arr.NonEmptyReadonlyArray<SkuOffer>
): Pick<SkuOffer, "seconds" | "onlySeconds"> => {
  const lengths = new Set(offers.flatMap(secondsOf))
  const onlySeconds = [...lengths].toSorted((one, other) => one - other)
  const seconds = spanOf(onlySeconds)
  const hasGap = onlySeconds.length < seconds[1] - seconds[0] + 1
  const areLists = offers.every((offer) => offer.onlySeconds !== undefined)
  return hasGap || areLists ? { seconds, onlySeconds } : { seconds }
}

/**
 * The union of several offers: every duration and every resolution. A single protocol may lack a
 * part of the union. If one protocol accepts any resolution, the union accepts any; if all have a
 * fixed one, so has the union.
 */
export const offeredTogether = (offers: Arr.NonEmptyReadonlyArray<SkuOffer>): SkuOffer => {
  const lists = offers.map(acceptedResolutions)
  const takesAny = lists.some((resolutions) => resolutions.length === 0)
  const areFixed = offers.every(({ hasFixedResolution }) => hasFixedResolution === true)
  const isOffered = (name: Resolution) => lists.some((resolutions) => resolutions.includes(name))
  return {
    ...secondsTogether(offers),
    smart: smartness.find((smart) => offers.some((offer) => offer.smart === smart)) ?? "never",
    resolutions: takesAny || areFixed ? [] : Resolution.literals.filter(isOffered),
    ...(areFixed ? { hasFixedResolution: true } : {})
  }
}

/** The offers that meet the condition, or all of them if none does. */
const preferred = (
  offers: Arr.NonEmptyReadonlyArray<SkuOffer>,
  isMet: (offer: SkuOffer) => boolean
): Arr.NonEmptyReadonlyArray<SkuOffer> => {
  const met = offers.filter(isMet)
  return Arr.isReadonlyArrayNonEmpty(met) ? met : offers
}

const offersAt = (
  offers: Arr.NonEmptyReadonlyArray<SkuOffer>,
  resolution: string | null
): Arr.NonEmptyReadonlyArray<SkuOffer> =>
  preferred(offers, (offer) => Result.isSuccess(checkResolution(offer, resolution)))

/** The default duration of several offers, each with the durations of the resolution that it makes. */
export const defaultSecondsTogether = (
  offers: Arr.NonEmptyReadonlyArray<SkuOffer>,
  resolution: string | null
): number =>
  nearestSeconds(
    secondsTogether(Arr.map(offers, (offer) => offerAt(offer, resolution))),
    DEFAULT_SECONDS
  )

/**
 * The duration and the resolution of an order, with the defaults of several offers in place of what
 * it leaves out, so that the default is the same whichever offer makes the order. The resolution
 * stays null if one of the offers takes any, or if all of them have a fixed one.
 */
export const defaultsTogether = (
  offers: Arr.NonEmptyReadonlyArray<SkuOffer>,
  { seconds, resolution }: Pick<VideoInput, "seconds" | "resolution">
): Pick<VideoInput, "seconds" | "resolution"> => {
  const length = seconds ?? defaultSecondsTogether(offersAt(offers, resolution), resolution)
  if (resolution !== null) return { seconds: length, resolution }
  const [first, ...others] = offeredTogether(
    preferred(
      offers,
      (offer) => typeof length === "number" && isOfferedLength(offerAt(offer, null), length)
    )
  ).resolutions
  return {
    seconds: length,
    resolution: first === undefined ? null : defaultResolutionOf([first, ...others])
  }
}

/**
 * The error for an input that no single protocol offers. The error lists the union of the offers of
 * the protocols that support the input's resolution, or of all protocols if none supports it. Null
 * if the union offers the input.
 */
export const notOffered = (
  offers: Arr.NonEmptyReadonlyArray<SkuOffer>,
  billing: SkuBilling,
  input: Pick<VideoInput, "seconds" | "resolution">
): VideoSkuInvalid | null => {
  const nearest = offersAt(offers, input.resolution)
  const sku = resolveSku(offeredTogether(nearest), billing, input)
  return Result.isFailure(sku) ? sku.failure : null
}
