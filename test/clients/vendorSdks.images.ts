/** Images of the vendor with content blocks; the package of the cloud has none. */
import { bytes, faces, first, type ImageRow, prompt } from "./vendorSdks.rows.ts"

const seedreams = ["seedream-4-0-250828", "seedream-4-5-251128", "seedream-5-0-260128"] as const

export const images: ReadonlyArray<ImageRow> = [
  ...seedreams.map(
    (model): ImageRow => ({ model, says: "a text alone", call: { prompt }, booked: {} })
  ),
  {
    model: "seedream-4-0-250828",
    says: "a size in pixels, quickly",
    call: { prompt, size: "1280x720" },
    options: { optimizePromptMode: "fast", watermark: true },
    booked: { size: "1280x720" }
  },
  {
    model: "seedream-4-0-250828",
    says: "a size by its name",
    call: { prompt },
    options: { size: "1K", watermark: false },
    booked: { size: "1K" }
  },
  {
    model: "seedream-4-5-251128",
    says: "an image to go by",
    call: { prompt: { text: prompt, images: [first] } },
    booked: {},
    pictures: 1
  },
  {
    model: "seedream-4-5-251128",
    says: "several images to go by, one of them as bytes",
    call: { prompt: { text: prompt, images: [...faces, bytes] } },
    booked: {},
    pictures: 4
  },
  {
    model: "seedream-5-0-260128",
    says: "another format",
    call: { prompt },
    options: { outputFormat: "png", optimizePromptMode: "standard" },
    booked: {}
  },
  {
    model: "dola-seedream-5-0-pro-260628",
    says: "two images, which are two orders",
    call: { prompt, n: 2 },
    booked: {}
  },
  {
    model: "seedream-4-5-251128",
    says: "a series that the model may not make",
    call: { prompt },
    options: { sequentialImageGeneration: "disabled" },
    booked: {}
  },
  {
    model: "seedream-4-5-251128",
    says: "a series of at most three",
    call: { prompt },
    options: { sequentialImageGeneration: "auto", maxImages: 3 },
    booked: {}
  }
]
