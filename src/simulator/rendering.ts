import { Schema } from "effect"
import type { AcceptedEntry, Product } from "./Book.ts"
import { numberFrom } from "./digest.ts"
import type { Size } from "./Media.ts"
import { countOf, isOn } from "./switches.ts"
import type { ModelFamily } from "./vendors/ModelFamily.ts"

const Resolution = Schema.Literals(["480p", "720p", "768p", "1080p", "2k", "4k"])

export const Ratio = Schema.Literals(["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"])

export const framesPerSecond = 24

/** The sizes of the newer models. 4k sizes other than 16:9 are twice the 1080p sizes. */
const sizes: Record<
  typeof Resolution.Type,
  Record<Exclude<typeof Ratio.Type, "adaptive">, readonly [width: number, height: number]>
> = {
  "480p": {
    "16:9": [864, 496],
    "4:3": [752, 560],
    "1:1": [640, 640],
    "3:4": [560, 752],
    "9:16": [496, 864],
    "21:9": [992, 432]
  },
  "720p": {
    "16:9": [1280, 720],
    "4:3": [1112, 834],
    "1:1": [960, 960],
    "3:4": [834, 1112],
    "9:16": [720, 1280],
    "21:9": [1470, 630]
  },
  "768p": {
    "16:9": [1360, 768],
    "4:3": [1184, 880],
    "1:1": [1024, 1024],
    "3:4": [880, 1184],
    "9:16": [768, 1360],
    "21:9": [1568, 672]
  },
  "1080p": {
    "16:9": [1920, 1080],
    "4:3": [1664, 1248],
    "1:1": [1440, 1440],
    "3:4": [1248, 1664],
    "9:16": [1080, 1920],
    "21:9": [2206, 946]
  },
  "2k": {
    "16:9": [2560, 1440],
    "4:3": [2224, 1664],
    "1:1": [1920, 1920],
    "3:4": [1664, 2224],
    "9:16": [1440, 2560],
    "21:9": [2940, 1260]
  },
  "4k": {
    "16:9": [3840, 2160],
    "4:3": [3328, 2496],
    "1:1": [2880, 2880],
    "3:4": [2496, 3328],
    "9:16": [2160, 3840],
    "21:9": [4412, 1892]
  }
}

/** The sizes of the first generation of models. */
const olderSizes: Pick<typeof sizes, "480p" | "720p" | "1080p"> = {
  "480p": {
    "16:9": [864, 480],
    "4:3": [736, 544],
    "1:1": [640, 640],
    "3:4": [544, 736],
    "9:16": [480, 864],
    "21:9": [960, 416]
  },
  "720p": {
    "16:9": [1248, 704],
    "4:3": [1120, 832],
    "1:1": [960, 960],
    "3:4": [832, 1120],
    "9:16": [704, 1248],
    "21:9": [1504, 640]
  },
  "1080p": {
    "16:9": [1920, 1088],
    "4:3": [1664, 1248],
    "1:1": [1440, 1440],
    "3:4": [1248, 1664],
    "9:16": [1088, 1920],
    "21:9": [2176, 928]
  }
}

const isResolution = Schema.is(Resolution)
const isRatio = Schema.is(Ratio)

/** The aspect ratio of the rendered video: `adaptive` becomes 16:9. */
export const renderedRatio = ({ order }: AcceptedEntry): Exclude<typeof Ratio.Type, "adaptive"> =>
  isRatio(order.ratio) && order.ratio !== "adaptive" ? order.ratio : "16:9"

/** The name of a table from resolutions to sizes. */
export type SizesName = "older" | "newer" | "2.5"

const sizesByName: Record<SizesName, typeof sizes> = {
  older: { ...sizes, ...olderSizes },
  newer: sizes,
  "2.5": { ...sizes, "480p": { ...sizes["480p"], "16:9": [854, 480], "9:16": [480, 854] } }
}

/** The resolution of the rendered video, which `sim:renders=480p` sets in place of the ordered. */
export const renderedResolution = ({ order, switches }: AcceptedEntry): string | null =>
  switches.renders ?? order.resolution

/**
 * The size of the rendered video in pixels. An order without a resolution gets the size of 720p.
 */
const renderedSize = (acceptedEntry: AcceptedEntry, name: SizesName): Size => {
  const resolution = renderedResolution(acceptedEntry)
  const [width, height] =
    sizesByName[name][isResolution(resolution) ? resolution : "720p"][renderedRatio(acceptedEntry)]
  return { width, height }
}

/** The assumed length of every reference video, in seconds. */
export const assumedInputSeconds = 4

/**
 * The length of the rendered video, in seconds. Where the model chooses the length, it is derived
 * from the job's id, so that it is the same at every poll.
 */
const renderedSeconds = (
  { order, upstream_id }: AcceptedEntry,
  [min, max]: ModelFamily["seconds"]
): number | null =>
  order.seconds === -1 ? min + numberFrom(upstream_id, max - min + 1) : order.seconds

/**
 * The length and the tokens of a rendered video. The tokens are computed from the number of frames,
 * which follows from the length where the order does not set it.
 */
export const producedVideo = (
  acceptedEntry: AcceptedEntry,
  family: Pick<ModelFamily, "seconds"> & { readonly sizes: SizesName }
): Product => {
  const seconds = renderedSeconds(acceptedEntry, family.seconds) ?? 0
  const { frames } = acceptedEntry.echo
  const inputSeconds = acceptedEntry.order.inputs.videos * assumedInputSeconds
  const frameCount =
    typeof frames === "number" ? frames : framesPerSecond * (seconds + inputSeconds) + 1
  const { width, height } = renderedSize(acceptedEntry, family.sizes)
  const tokens = (width * height * frameCount) / 1024
  return { seconds, images: null, completion_tokens: Math.floor(tokens) }
}

/** The length of a rendered video, for jobs that are billed by the second. */
export const producedSeconds = (
  acceptedEntry: AcceptedEntry,
  { seconds }: Pick<ModelFamily, "seconds">
): Product => ({
  seconds: renderedSeconds(acceptedEntry, seconds),
  images: null,
  completion_tokens: null
})

/**
 * The number of images of an order that are refused when they are generated: N with the switch
 * `sim:refused-images=N`, all with `sim:refused-images`, otherwise 0.
 */
export const refusedImages = ({ order, switches }: AcceptedEntry): number => {
  const orderedImages = order.n ?? 1
  if (!isOn(switches, "refused-images")) return 0
  return Math.min(countOf(switches, "refused-images", orderedImages), orderedImages)
}

/** The number of images that an order produces. */
export const producedImages = (acceptedEntry: AcceptedEntry): Product => ({
  seconds: null,
  images:
    (acceptedEntry.order.n ?? 1) -
    (isOn(acceptedEntry.switches, "fewer") ? 1 : 0) -
    refusedImages(acceptedEntry),
  completion_tokens: null
})
