/**
 * Sizes as `WxH`. A size stands for a resolution and a ratio, which are sent to the vendor in place
 * of the size, because the frames of different generations of models differ by a few pixel rows.
 */
import { Result, Schema } from "effect"
import { VideoSkuInvalid } from "../Errors.ts"
import { Resolution } from "./tiers.ts"

/**
 * The sizes of each resolution by ratio: first the one shown by the API, then others that vendors
 * render.
 */
const landscapeSizes: Readonly<
  Record<Resolution, Readonly<Record<string, ReadonlyArray<string>>>>
> = {
  "480p": {
    "16:9": ["864x480", "854x480", "864x496"],
    "4:3": ["736x544", "752x560"],
    "1:1": ["640x640"],
    "21:9": ["960x416", "992x432"]
  },
  "540p": { "16:9": ["960x540"] },
  "720p": {
    "16:9": ["1280x720", "1248x704"],
    "4:3": ["1112x834", "1120x832", "1088x832"],
    "1:1": ["960x960"],
    "21:9": ["1470x630", "1504x640"]
  },
  "768p": { "16:9": ["1360x768", "1366x768"] },
  "1080p": {
    "16:9": ["1920x1080", "1920x1088"],
    "4:3": ["1664x1248", "1632x1248"],
    "1:1": ["1440x1440"],
    "21:9": ["2206x946", "2176x928"]
  },
  "2K": { "16:9": ["2560x1440"] },
  "4K": { "16:9": ["3840x2160"] }
}

/** The aspect ratios that have sizes. */
export const Ratio = Schema.Literals(["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"])
export type Ratio = typeof Ratio.Type
export const ratios: ReadonlyArray<Ratio> = Ratio.literals

/** Maps portrait ratios to their landscape ratios. */
const landscapeRatios: Readonly<Partial<Record<Ratio, Ratio>>> = { "9:16": "16:9", "3:4": "4:3" }

const swapSides = (size: string): string => size.split("x").toReversed().join("x")

interface Size {
  readonly name: string
  readonly resolution: Resolution
  readonly ratio: Ratio
  /** Whether the API shows this size for the resolution at this ratio. */
  readonly isFirst: boolean
}

const sizes: ReadonlyArray<Size> = Resolution.literals.flatMap((resolution) =>
  ratios.flatMap((ratio) => {
    const side = landscapeRatios[ratio]
    const names = landscapeSizes[resolution][side ?? ratio] ?? []
    return names.map((name, index) => ({
      name: side === undefined ? name : swapSides(name),
      resolution,
      ratio,
      isFirst: index === 0
    }))
  })
)

const byName = new Map(sizes.map((size) => [size.name, size]))

/** The resolution and the ratio of a requested size. */
export interface Frame {
  readonly resolution: Resolution
  /** The ratio; null if the text is only a resolution. */
  readonly ratio: Ratio | null
}

/** Parses `WxH` or a resolution alone, ignoring case; null for any other text. */
export const frameOf = (requested: string): Frame | null => {
  const name = requested.trim().toLowerCase()
  const resolution = Resolution.literals.find((size) => size.toLowerCase() === name)
  return resolution === undefined ? (byName.get(name) ?? null) : { resolution, ratio: null }
}

/**
 * The size that the API shows for a resolution at this ratio; the resolution itself if the ratio is
 * unknown.
 */
export const sizeNamed = (resolution: string, ratio: string | null): string =>
  sizes.find((size) => size.isFirst && size.resolution === resolution && size.ratio === ratio)
    ?.name ?? resolution

/** The fields of an offer that define which sizes can be ordered. */
interface SizeOffer {
  /** The resolutions; empty if the vendor accepts none and renders the default one. */
  readonly resolutions: ReadonlyArray<Resolution>
  readonly ratios?: ReadonlyArray<Ratio>
  readonly isShapedByImage?: boolean
}

/** The width and height of a size or of an image. */
export type Sides = readonly [width: number, height: number]

const sidesOf = (name: string): Sides | null => {
  const match = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i.exec(name.trim())
  if (match === null || Number(match[1]) * Number(match[2]) === 0) return null
  return [Number(match[1]), Number(match[2])]
}

/** The distance of two sizes, 0 if they are equal: the ratio weighs more than the absolute size. */
const distance = ([width, height]: Sides, [otherWidth, otherHeight]: Sides): number => {
  const [wider, higher] = [Math.log(width / otherWidth), Math.log(height / otherHeight)]
  return 2 * Math.abs(wider - higher) + Math.abs(wider + higher)
}

const nearestTo = (requested: string, offeredNames: ReadonlyArray<string>): string => {
  const sides = sidesOf(requested)
  const firstName = offeredNames[0] ?? ""
  if (sides === null) return offeredNames.find((name) => name === "1280x720") ?? firstName
  const distanceTo = (name: string) =>
    distance(sides, sidesOf(name) ?? [Number.MAX_VALUE, Number.MIN_VALUE])
  return offeredNames.reduce(
    (best, name) => (distanceTo(name) < distanceTo(best) ? name : best),
    firstName
  )
}

const proportionOf = (ratio: string): number => {
  const [, width, height] = /^\s*(\d+(?:\.\d+)?)\s*[:x*/]\s*(\d+(?:\.\d+)?)\s*$/.exec(ratio) ?? []
  return Math.log(Number(width) / Number(height))
}

/** The offered ratio nearest to the requested one; the first one if the request is no ratio. */
export const nearestRatio = (
  requested: string,
  offered: ReadonlyArray<Ratio>
): Ratio | undefined => {
  const proportion = proportionOf(requested)
  if (!Number.isFinite(proportion)) return offered[0]
  const distanceTo = (ratio: Ratio) => Math.abs(proportionOf(ratio) - proportion)
  return offered.toSorted((one, other) => distanceTo(one) - distanceTo(other))[0]
}

/**
 * The maximum difference between equal ratios, as a logarithm: sizes are rounded to whole blocks.
 */
const SAME_SHAPE = 0.06

const hasShape = ([width, height]: Sides, name: string): boolean => {
  const [wide, high] = sidesOf(name) ?? [1, 1]
  return Math.abs(Math.log(width / height / (wide / high))) <= SAME_SHAPE
}

/** The requested size, and the dimensions of the input image. */
export interface SizeRequest {
  readonly size: string
  /**
   * The dimensions of the image that the video is made from: null without an image, unknown if
   * unreadable.
   */
  readonly picture: Sides | "unknown" | null
}

const refuse = (message: string, allowed: ReadonlyArray<string>, nearest: string) =>
  Result.fail(new VideoSkuInvalid({ message, param: "size", allowed, nearest }))

/**
 * Checks that one of the offers supports exactly this size; fails with the offered sizes and the
 * nearest one. If an image decides the shape, the size must have the shape of the image.
 */
export const checkSize = (
  { size, picture }: SizeRequest,
  offers: ReadonlyArray<SizeOffer>,
  renderedResolution: Resolution
): Result.Result<void, VideoSkuInvalid> => {
  const resolutionsOf = ({ resolutions }: SizeOffer) =>
    resolutions.length === 0 ? [renderedResolution] : resolutions
  const isOffered = ({ resolution, ratio }: Frame) =>
    offers.some(
      (offer) =>
        resolutionsOf(offer).includes(resolution) &&
        (ratio === null || (offer.ratios ?? ratios).includes(ratio))
    )
  const frame = frameOf(size)
  const quotedSize = JSON.stringify(size)
  if (frame === null || !isOffered(frame)) {
    const offeredNames = sizes
      .filter((size) => size.isFirst && isOffered(size))
      .map(({ name }) => name)
    const requested = frame === null ? size : sizeNamed(frame.resolution, frame.ratio ?? "16:9")
    const nearest = nearestTo(requested, offeredNames)
    const offeredList = offeredNames.join(", ")
    return refuse(
      `size ${quotedSize} is not offered: this model takes ${offeredList}. The nearest is ${nearest}.`,
      offeredNames,
      nearest
    )
  }
  const isShaped = offers.every(({ isShapedByImage }) => isShapedByImage === true)
  if (!isShaped || picture === null || frame.ratio === null) return Result.void
  if (picture !== "unknown" && hasShape(picture, size.trim().toLowerCase())) return Result.void
  const shape =
    picture === "unknown" ? "which cannot be read here" : `which is ${picture.join("x")}`
  return refuse(
    `size ${quotedSize} is not offered with this picture: the video takes the picture's shape, ${shape}. ` +
      `Give the resolution alone, as ${JSON.stringify(frame.resolution)}.`,
    [...new Set(offers.flatMap(resolutionsOf))],
    frame.resolution
  )
}
