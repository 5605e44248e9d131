/** vp_a, vp_b and the relay's family of them: content blocks, billed by tokens. */
import { A1, type Form, I1, I2, inputs, type Subject, V1, type Wish } from "./Subject.ts"
import { tokenTariff } from "./tariffs.ts"

const text = ({ prompt }: Wish) => ({ type: "text", text: prompt })
const image = (url: string, role = "reference_image") => ({
  type: "image_url",
  role,
  image_url: { url }
})
/** By itself, and without a role of its client's, it is the first frame. */
const loneImage = { type: "image_url", image_url: { url: I1 } }
const audio = { type: "audio_url", role: "reference_audio", audio_url: { url: A1 } }
const video = { type: "video_url", role: "reference_video", video_url: { url: V1 } }

const invalid = (param: string, why: string) => ({
  error: {
    code: "InvalidParameter",
    message: `The parameter \`${param}\` specified in the request ${why} Request id: <id>`,
    param,
    type: "BadRequest"
  }
})

/** What the three have in common; `frame` is the rest of the body around the blocks. */
const formsOf = (
  path: string,
  frame: (wish: Wish) => object,
  refusal: (wish: Wish) => unknown
): ReadonlyArray<Form> => {
  const form = (
    says: string,
    input: Form["input"],
    media: ReadonlyArray<object>,
    more: object = {}
  ): Form => ({
    says,
    input,
    path,
    body: (wish) => ({ ...frame(wish), content: [text(wish), ...media], ...more }),
    refusal
  })
  return [
    form("a text", inputs.text, []),
    form("a text with ratio and sound", inputs.shaped, [], {
      ratio: "9:16",
      generate_audio: true
    }),
    form("an image", inputs.image, [loneImage]),
    form("two images", inputs.images, [image(I1), image(I2)]),
    form("two frames", inputs.frames, [image(I1, "first_frame"), image(I2, "last_frame")]),
    form("an image and a sound", inputs.imageAndAudio, [image(I1), audio]),
    { ...form("a video", inputs.video, [video]), withVideo: true },
    {
      ...form("a sound alone", inputs.audio, [audio]),
      refusal: (wish) =>
        refusal(wish) ?? invalid("content", "has audio without an image or a video.")
    }
  ]
}

export const contentBlocks: ReadonlyArray<Subject> = [
  {
    says: "vp_a",
    model: "film-a",
    protocol: "vp_a",
    seconds: { least: 5, inside: 9, most: 15, smart: false },
    tiers: ["480p", "720p", "1080p", "4k"],
    tariff: tokenTariff,
    forms: formsOf(
      "/api/v3/contents/generations/tasks",
      ({ seconds, tier }) => ({
        model: "vendor-film-a",
        duration: seconds,
        resolution: tier,
        watermark: false
      }),
      () => undefined
    )
  },
  {
    says: "vp_b",
    model: "film-b",
    protocol: "vp_b",
    seconds: { least: 4, inside: 9, most: 15, smart: true },
    tiers: null,
    tariff: tokenTariff,
    forms: formsOf(
      "/v2/video/tasks",
      ({ seconds }) => ({ model: "vendor-film-b", duration: seconds }),
      () => undefined
    )
  },
  {
    says: "vp_c for vp_a",
    model: "relay-a",
    protocol: "vp_c",
    seconds: { least: 1, inside: 9, most: 16, smart: true },
    tiers: ["480p", "540p", "720p", "1080p", "4k"],
    tariff: tokenTariff,
    forms: formsOf(
      "/doubao/v1/videos/generations/submit",
      ({ prompt, seconds, tier }) => ({
        model: "relay-film-a",
        prompt,
        duration: seconds,
        resolution: tier,
        watermark: false
      }),
      ({ seconds, tier }) => {
        if (seconds === 1 || seconds === 16) return invalid("duration", "is not valid.")
        return tier === "540p" ? invalid("resolution", "is not valid.") : undefined
      }
    )
  }
]
