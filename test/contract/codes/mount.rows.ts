/** Models that are there and cannot be called or billed. */
import { type Asked, asRich, chat, embed, image, quote, row, video } from "./Row.ts"

const unavailable = (when: string, asked: Asked, message: string) =>
  row("channel_unavailable", when, asRich(asked), { message, param: "model" })

const notMounted = (model: string) =>
  `"${model}" is not mounted on an enabled channel at the moment`

const unsupportedText = (model: string, modality: string) =>
  `"${model}" is called by other, which is not a supported ${modality} protocol`

const channels = [
  unavailable(
    "no mount of a video model",
    video({ model: "film-unmounted" }),
    notMounted("film-unmounted")
  ),
  unavailable(
    "no mount of an image model",
    image({ model: "paint-unmounted" }),
    notMounted("paint-unmounted")
  ),
  unavailable(
    "no mount of a chat model",
    chat({ model: "talk-unmounted" }),
    notMounted("talk-unmounted")
  ),
  unavailable(
    "no mount of a quoted model",
    quote({ model: "film-unmounted" }),
    notMounted("film-unmounted")
  ),
  unavailable("a mount that is disabled", video({ model: "film-off" }), notMounted("film-off")),
  unavailable(
    "a channel that is disabled",
    video({ model: "film-channel-off" }),
    notMounted("film-channel-off")
  ),
  unavailable(
    "a channel without credentials",
    video({ model: "film-keyless" }),
    "The channel of this model has no usable credentials at the moment"
  ),
  unavailable(
    "vp_b on a channel without an application id",
    video({ model: "film-appless" }),
    'The channel of "film-appless" has no application id, which vp_b needs'
  ),
  unavailable(
    "a chat protocol that is none",
    chat({ model: "talk-strange" }),
    unsupportedText("talk-strange", "chat")
  ),
  unavailable(
    "an embeddings protocol that is none",
    embed({ model: "vector-strange" }),
    unsupportedText("vector-strange", "embedding")
  )
]

const IMAGE_PROTOCOLS =
  '"paint-strange" is called by vp_a, which is not a supported image protocol: ip_a, ip_b, ip_c, gemini, fal, replicate are'

const images = [image, quote].map((body, index) =>
  row(
    "image_unsupported_protocol",
    `a video protocol under an image model, at ${["images", "quotes"][index]}`,
    asRich(body({ model: "paint-strange" })),
    { message: IMAGE_PROTOCOLS, param: "model" }
  )
)

const unpriced = (when: string, asked: Asked, message: string, priced: ReadonlyArray<string>) =>
  row("billing_unavailable", when, asRich(asked), {
    message,
    param: "resolution",
    more: { priced }
  })

const unpricedModel = (when: string, asked: Asked, message: string) =>
  row("billing_unavailable", when, asRich(asked), { message, param: "model" })

const REFERENCE = "https://files.test/in.mp4"

const prices = [
  unpriced(
    "a resolution without a price per second",
    video({ model: "clip-1", resolution: "4K" }),
    "No price is configured for 4K, so this order cannot be billed. Priced are: 720p, 1080p.",
    ["720p", "1080p"]
  ),
  unpriced(
    "a quote for a resolution without a price",
    quote({ model: "clip-1", resolution: "4k" }),
    "No price is configured for 4K, so this order cannot be billed. Priced are: 720p, 1080p.",
    ["720p", "1080p"]
  ),
  unpriced(
    "a tier without a price, and no base price to fall back to",
    video({ model: "film-only-1080p", resolution: "4K" }),
    "No price is configured for 4K, so this order cannot be billed. Priced are: 1080p.",
    ["1080p"]
  ),
  unpriced(
    "a reference video without a with-video price",
    video({ model: "film-without-video", video: REFERENCE }),
    "No price is configured for 720p with a reference video, so this order cannot be billed. Priced with a reference video are: 4K.",
    ["4K"]
  ),
  unpriced(
    "a reference video where nothing has a with-video price",
    video({ model: "film-only-1080p", video: REFERENCE, resolution: "1080p" }),
    "No price is configured for 1080p with a reference video, so this order cannot be billed. No other resolution has one either.",
    []
  ),
  unpriced(
    "a video model without any token price",
    video({ model: "film-unpriced" }),
    "No price is configured for this model, so this order cannot be billed",
    []
  ),
  unpriced(
    "a video model without any price per second",
    video({ model: "clip-unpriced" }),
    "No price is configured for this model, so this order cannot be billed",
    []
  ),
  unpricedModel(
    "an image model without a price",
    image({ model: "paint-unpriced" }),
    'No price is configured for "paint-unpriced", so it cannot be billed'
  ),
  unpricedModel(
    "a chat model without a price",
    chat({ model: "talk-unpriced" }),
    'No price is configured for "talk-unpriced", so it cannot be billed'
  ),
  unpricedModel(
    "a chat model without a price of output tokens",
    chat({ model: "talk-half-priced" }),
    "No price of output tokens is configured for this model, so it cannot be billed"
  ),
  unpricedModel(
    "an embedding model without a price",
    embed({ model: "vector-unpriced" }),
    'No price is configured for "vector-unpriced", so it cannot be billed'
  ),
  unpricedModel(
    "a quote of a model without a price",
    quote({ model: "talk-unpriced", messages: [{ role: "user", content: "x" }] }),
    'No price is configured for "talk-unpriced", so it cannot be billed'
  )
]

export const mountRows = [...channels, ...images, ...prices]
