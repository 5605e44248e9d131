/** vp_f by kind and version of the model, and the relay's family of it, billed by ordered seconds. */
import { A1, type Form, I1, I2, inputs, type Subject, V1, type Wish } from "./Subject.ts"
import { secondTariff, type Tier } from "./tariffs.ts"

const SUBMIT = "/api/v1/services/aigc/video-generation/video-synthesis"

const invalid = (message: string) => ({ code: "InvalidParameter", message, request_id: "<id>" })

/** What was never sent has no request id of the vendor's. */
const unsent = (says: string, input: Form["input"], message: string): Form => ({
  says,
  input,
  path: null,
  body: () => null,
  refusal: () => ({ code: "InvalidParameter", message })
})

type Parameters = (wish: Wish) => object

const upper = (tier: Tier) => tier.toUpperCase()
const tiered: Parameters = ({ tier }) => ({ resolution: upper(tier) })
const tall: Parameters = ({ tier }) => ({ resolution: upper(tier), ratio: "9:16" })
const sized: Parameters = ({ tier }) => ({ size: tier === "720p" ? "1280*720" : "1920*1080" })
const sizedTall: Parameters = ({ tier }) => ({ size: tier === "720p" ? "720*1280" : "1080*1920" })

/** Writes the forms of one model. */
const writer =
  (path: string, model: string, refusal?: Form["refusal"]) =>
  (
    says: string,
    input: Form["input"],
    media: object,
    parameters: Parameters,
    own?: Form["refusal"]
  ): Form => ({
    says,
    input,
    path,
    body: (wish) => ({
      model,
      input: { prompt: wish.prompt, ...media },
      parameters: { ...parameters(wish), duration: wish.seconds, watermark: false }
    }),
    ...(own === undefined && refusal === undefined
      ? {}
      : { refusal: (wish: Wish) => refusal?.(wish) ?? own?.(wish) })
  })

const firstFrame = { type: "first_frame", url: I1 }
const lastFrame = { type: "last_frame", url: I2 }

const text26 = writer(SUBMIT, "vendor2.6-t2v")
const text27 = writer(SUBMIT, "vendor2.7-t2v")
const image26 = writer(SUBMIT, "vendor2.6-i2v")
const image27 = writer(SUBMIT, "vendor2.7-i2v")
const reference27 = writer(SUBMIT, "vendor2.7-r2v")
const reference26 = writer(SUBMIT, "vendor2.6-r2v", ({ seconds }) =>
  seconds > 10 ? invalid("Field not valid: parameters.duration") : undefined
)
const relay = writer(
  "/qwen/api/v1/services/aigc/video-generation/generation",
  "relay2.7-t2v-cn",
  ({ seconds, tier }) => {
    if (seconds === 1 || seconds === 16) return invalid("Field not valid: parameters.duration")
    return tier === "720p" || tier === "1080p"
      ? undefined
      : invalid("Field not valid: parameters.resolution")
  }
)

const noImage = unsent("an image", inputs.image, "The model does not accept image input")
const noVideo = unsent("a video", inputs.video, "The model does not accept video input")

const noCombination = () => invalid("The combination of input.media is not supported")

const models: ReadonlyArray<readonly [model: string, forms: ReadonlyArray<Form>]> = [
  [
    "text-2.6",
    [
      text26("a text", inputs.text, {}, sized),
      text26("a text with ratio and sound", inputs.shaped, {}, sizedTall),
      text26("a sound", inputs.audio, { audio_url: A1 }, sized),
      noImage,
      noVideo,
      {
        ...unsent("a ratio without a size", { ratio: "21:9" }, ""),
        refusal: ({ tier }) => ({
          code: "InvalidParameter",
          message: `The size is not match the allowed size: ${tier} at 21:9`
        })
      }
    ]
  ],
  [
    "text-2.7",
    [
      text27("a text", inputs.text, {}, tiered),
      text27("a text with ratio and sound", inputs.shaped, {}, tall),
      text27("a sound", inputs.audio, { audio_url: A1 }, tiered),
      noImage,
      noVideo
    ]
  ],
  [
    "image-2.6",
    [
      image26("an image", inputs.image, { img_url: I1 }, tiered),
      image26(
        "an image with ratio and sound",
        { ...inputs.image, ...inputs.shaped },
        { img_url: I1 },
        tiered
      ),
      image26("an image and a sound", inputs.imageAndAudio, { img_url: I1, audio_url: A1 }, tiered),
      image26("a text", inputs.text, {}, tiered, () => invalid("Field required: input.img_url")),
      unsent("two images", inputs.images, "The model accepts only one image input"),
      noVideo
    ]
  ],
  [
    "image-2.7",
    [
      image27("an image", inputs.image, { media: [firstFrame] }, tiered),
      image27("two frames", inputs.frames, { media: [firstFrame, lastFrame] }, tiered),
      image27(
        "an image and a sound",
        inputs.imageAndAudio,
        { media: [firstFrame, { type: "driving_audio", url: A1 }] },
        tiered
      ),
      image27(
        "two images",
        inputs.images,
        { media: [firstFrame, { type: "first_frame", url: I2 }] },
        tiered,
        noCombination
      ),
      image27("a text", inputs.text, { media: [] }, tiered, noCombination),
      noVideo
    ]
  ],
  [
    "reference-2.6",
    [
      reference26("an image", inputs.image, { reference_urls: [I1] }, sized),
      reference26("two images", inputs.images, { reference_urls: [I1, I2] }, sized),
      reference26("a video", inputs.video, { reference_urls: [V1] }, sized),
      unsent("a sound", inputs.audio, "The model does not accept audio input")
    ]
  ],
  [
    "reference-2.7",
    [
      reference27(
        "two images",
        inputs.images,
        {
          media: [
            { type: "reference_image", url: I1 },
            { type: "reference_image", url: I2 }
          ]
        },
        tiered
      ),
      reference27(
        "a video",
        inputs.video,
        { media: [{ type: "reference_video", url: V1 }] },
        tiered,
        ({ seconds }) =>
          seconds > 10 ? invalid("The duration with a reference video is at most 10") : undefined
      ),
      reference27(
        "a sound",
        inputs.audio,
        { media: [{ type: "driving_audio", url: A1 }] },
        tiered,
        () => invalid("Field not valid: input.media[0].type")
      )
    ]
  ]
]

export const cloud: ReadonlyArray<Subject> = [
  ...models.map(
    ([model, forms]): Subject => ({
      says: `vp_f ${model}`,
      model,
      protocol: "vp_f",
      seconds: { least: 2, inside: 9, most: 15, smart: false },
      tiers: ["720p", "1080p"],
      tariff: secondTariff,
      forms
    })
  ),
  {
    says: "vp_c for vp_f",
    model: "relay-f",
    protocol: "vp_c",
    seconds: { least: 1, inside: 9, most: 16, smart: false },
    tiers: ["480p", "540p", "720p", "1080p", "4k"],
    tariff: secondTariff,
    forms: [
      relay("a text", inputs.text, {}, tiered),
      relay("a text with ratio and sound", inputs.shaped, {}, tall),
      relay("a sound", inputs.audio, { audio_url: A1 }, tiered),
      noImage,
      noVideo
    ]
  }
]
