import { Schema } from "effect"
import type { AcceptedEntry, Produced } from "./Book.ts"
import { numberFrom } from "./digest.ts"
import type { Size } from "./Media.ts"
import { isOn } from "./switches.ts"

export const Resolution = Schema.Literals(["480p", "720p", "1080p", "4k"])

export const Ratio = Schema.Literals(["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"])

export const framesPerSecond = 24

/** Width and height the newer models render; the 4k ones other than 16:9 are twice the 1080p ones. */
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
  "1080p": {
    "16:9": [1920, 1080],
    "4:3": [1664, 1248],
    "1:1": [1440, 1440],
    "3:4": [1248, 1664],
    "9:16": [1080, 1920],
    "21:9": [2206, 946]
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

const isResolution = Schema.is(Resolution)
const isRatio = Schema.is(Ratio)

/** The ratio an order is rendered in: `adaptive` becomes 16:9. */
export const renderedRatio = ({ order }: AcceptedEntry): Exclude<typeof Ratio.Type, "adaptive"> =>
  isRatio(order.ratio) && order.ratio !== "adaptive" ? order.ratio : "16:9"

/** The size in pixels; 720p where the order names no resolution. */
const renderedSize = (accepted: AcceptedEntry): Size => {
  const { resolution } = accepted.order
  const [width, height] =
    sizes[isResolution(resolution) ? resolution : "720p"][renderedRatio(accepted)]
  return { width, height }
}

/** What every reference video is taken to last. */
export const assumedInputSeconds = 4
const chosenSeconds = { least: 4, most: 15 }

/** Length and tokens of a rendered order. The model's own choice of length depends on the id only. */
export const producedVideo = (accepted: AcceptedEntry): Produced => {
  const { least, most } = chosenSeconds
  const ordered = accepted.order.seconds ?? -1
  const seconds =
    ordered === -1 ? least + numberFrom(accepted.upstream_id, most - least + 1) : ordered
  const counted = seconds + accepted.order.inputs.videos * assumedInputSeconds
  const { width, height } = renderedSize(accepted)
  const tokens = (width * height * (framesPerSecond * counted + 1)) / 1024
  return { seconds, images: null, completion_tokens: Math.floor(tokens) }
}

/** Only the length ordered, for work that is billed by the second. */
export const producedSeconds = ({ order }: AcceptedEntry): Produced => ({
  seconds: order.seconds,
  images: null,
  completion_tokens: null
})

/** How many images come of an order. */
export const producedImages = ({ order, switches }: AcceptedEntry): Produced => ({
  seconds: null,
  images: (order.n ?? 1) - (isOn(switches, "fewer") ? 1 : 0),
  completion_tokens: null
})
