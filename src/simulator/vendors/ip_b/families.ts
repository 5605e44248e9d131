import type { Size } from "../../Media.ts"
import { maxSide } from "../../media/picture.ts"

/** The limits of a family of models, and the form of their responses. */
export interface Family {
  /** Parses an ordered size; undefined where the family does not support it. */
  readonly sizeOf: (text: string) => Size | undefined
  readonly defaultSize: string
  readonly maxImages: number
  /** The number of images where the order has no `n`. */
  readonly defaultImages: number
  readonly references: readonly [least: number, most: number]
  /** Whether the family supports `negative_prompt` and `prompt_extend`. */
  readonly rewrites: boolean
  /** Whether images have the field `type: "image"` and the output has `finished: true`. */
  readonly labels: boolean
  /** Whether each image is followed by the rewritten prompt. */
  readonly explainsFaults: boolean
}

const tiers: Readonly<Record<string, Size>> = {
  "1K": { width: 1024, height: 1024 },
  "2K": { width: 2048, height: 2048 },
  "4K": { width: 4096, height: 4096 }
}

const pixels = (text: string): Size | undefined => {
  const [, width = 0, height = 0] = /^(\d{1,4})\*(\d{1,4})$/.exec(text)?.map(Number) ?? []
  const isDrawable = Math.min(width, height) >= 1 && Math.max(width, height) <= maxSide
  return isDrawable ? { width, height } : undefined
}

const oneOf = (...sizes: ReadonlyArray<string>) => {
  const allowedSizes = new Set(sizes)
  return (text: string) => (allowedSizes.has(text) ? pixels(text) : undefined)
}

/**
 * Accepts sizes by their number of pixels. Each limit is given as the side of the square that has
 * this number of pixels.
 */
const withinPixels = (min: number, max: number, maxRatio: number) => (text: string) => {
  const size = pixels(text)
  if (size === undefined) return undefined
  const { width, height } = size
  const count = width * height
  const ratio = Math.max(width / height, height / width)
  return count >= min ** 2 && count <= max ** 2 && ratio <= maxRatio ? size : undefined
}

const tierOrPixels = (text: string) => tiers[text] ?? pixels(text)

/**
 * The recommended sizes. Four of them have slightly fewer pixels than the minimum that the same
 * page of the vendor's documentation states.
 */
const recommendedSizes = oneOf("1280*1280", "1104*1472", "1472*1104", "960*1696", "1696*960")
const rangedSizes = withinPixels(1280, 1440, 4)
const moderate = withinPixels(512, 2048, Number.POSITIVE_INFINITY)

const text26: Family = {
  sizeOf: (text) => recommendedSizes(text) ?? rangedSizes(text),
  defaultSize: "1280*1280",
  maxImages: 4,
  defaultImages: 4,
  references: [0, 0],
  rewrites: true,
  labels: true,
  explainsFaults: false
}

const image27: Family = {
  sizeOf: tierOrPixels,
  defaultSize: "2K",
  maxImages: 4,
  defaultImages: 1,
  references: [0, 9],
  rewrites: false,
  labels: true,
  explainsFaults: false
}

const version2: Family = {
  sizeOf: moderate,
  defaultSize: "2048*2048",
  maxImages: 6,
  defaultImages: 1,
  references: [0, 3],
  rewrites: true,
  labels: false,
  explainsFaults: false
}

const families: ReadonlyArray<readonly [start: RegExp, family: Family]> = [
  [/^wan2\.6-t2i/, text26],
  [/^wan2\.6-image/, { ...text26, references: [1, 4] }],
  [/^wan2\.7-image/, image27],
  [/^qwen-image-2\.0/, version2],
  [/^qwen-image-edit/, { ...version2, references: [1, 3] }],
  [
    /^qwen-image/,
    {
      ...version2,
      sizeOf: oneOf(
        "1664*928",
        "1472*1104",
        "1328*1328",
        "1104*1472",
        "928*1664",
        "1472*1140",
        "1140*1472"
      ),
      defaultSize: "1664*928",
      maxImages: 1,
      references: [0, 0]
    }
  ],
  [
    /^z-image/,
    {
      ...version2,
      defaultSize: "1024*1536",
      maxImages: 1,
      references: [0, 0],
      explainsFaults: true
    }
  ]
]

/**
 * The fallback for unknown model ids: it has the widest limits. Its default `n` is 4, so a client
 * should always send `n`.
 */
const anyFamily: Family = { ...image27, maxImages: 6, defaultImages: 4, rewrites: true }

export const familyOf = (model: string): Family =>
  families.find(([start]) => start.test(model))?.[1] ?? anyFamily
