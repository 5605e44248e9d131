/**
 * Orders that the vendors' own providers for the AI SDK can make, of every family we know, as far as
 * their vendor takes them: what is said to the package, and what the vendor must have booked of it.
 */
import type { generateImage, experimental_generateVideo as generateVideo } from "ai"
import type { Order } from "../../src/simulator/Book.ts"

type Said = Parameters<typeof generateVideo>[0]
type Options = NonNullable<Said["providerOptions"]>[string]

export interface VideoRow {
  readonly model: string
  readonly says: string
  readonly call: Pick<
    Said,
    | "prompt"
    | "aspectRatio"
    | "resolution"
    | "duration"
    | "seed"
    | "frameImages"
    | "inputReferences"
    | "generateAudio"
  >
  /** Fields of the vendor's own, as its package calls them; others go out as they are written. */
  readonly options?: Options
  readonly booked: Partial<Pick<Order, "seconds" | "resolution" | "ratio" | "generate_audio">>
  readonly inputs?: Partial<Order["inputs"]>
  /** Seconds that the vendor may bill beside those of the video: of input. */
  readonly inputSeconds?: number
  /** Tokens by the formula: width x height x (24 x seconds + 1) / 1024. */
  readonly tokens?: number
}

export interface ImageRow {
  readonly model: string
  readonly says: string
  readonly call: Pick<Parameters<typeof generateImage>[0], "prompt" | "n" | "size">
  readonly options?: Options
  readonly booked: Partial<Pick<Order, "size">>
  readonly pictures?: number
}

/** The vendors are done when they are first asked. */
const prompt = "a lighthouse at dusk sim:slow=0"
const file = (name: string) => `https://files.test/${name}`
const [first, last] = [file("first.png"), file("last.png")]
const faces = [file("1.png"), file("2.png"), file("3.png")]
const [clip, sound] = [file("clip.mp4"), file("sound.mp3")]
/** The head of a picture, of which the package makes a data URL. */
const bytes = new Uint8Array(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64"))

const hd = { resolution: "1280x720", aspectRatio: "16:9" } as const
const bookedHd = { resolution: "720p", ratio: "16:9" } as const
const still = { prompt: { image: first, text: prompt } }
const frames = {
  prompt,
  frameImages: [
    { image: first, frameType: "first_frame" as const },
    { image: last, frameType: "last_frame" as const }
  ]
}

const onePro = "seedance-1-0-pro-250528"
const oneFive = "seedance-1-5-pro-251215"
const two = "dreamina-seedance-2-0-260128"
const twoFast = "dreamina-seedance-2-0-fast-260128"
const twoFive = "dreamina-seedance-2-5-260928"

const ofAll = [onePro, oneFive, two].flatMap(
  (model): ReadonlyArray<VideoRow> => [
    { model, says: "a text alone", call: { prompt }, booked: { seconds: 5 } },
    {
      model,
      says: "length, resolution and ratio",
      call: { prompt, resolution: "1280x720", aspectRatio: "9:16", duration: 10 },
      booked: { seconds: 10, resolution: "720p", ratio: "9:16" }
    },
    {
      model,
      says: "the least resolution",
      call: { prompt, resolution: "864x480", aspectRatio: "16:9" },
      booked: { resolution: "480p", ratio: "16:9" }
    },
    {
      model,
      says: "a lone image, which has no role",
      call: { ...still, duration: 5, resolution: "1280x720", aspectRatio: "adaptive" },
      booked: { seconds: 5, resolution: "720p", ratio: "adaptive" },
      inputs: { images: 1 }
    },
    {
      model,
      says: "first and last frame",
      call: { ...frames, resolution: "1280x720" },
      booked: { resolution: "720p" },
      inputs: { images: 2 }
    },
    {
      model,
      says: "a lone image and the last frame as an option",
      call: still,
      options: { lastFrameImage: last },
      booked: {},
      inputs: { images: 2 }
    },
    { model, says: "a mark", call: { prompt }, options: { watermark: true }, booked: {} },
    { model, says: "no mark", call: { prompt }, options: { watermark: false }, booked: {} },
    { model, says: "a seed", call: { prompt, seed: 7 }, booked: {} }
  ]
)

const ofOlder = [onePro, oneFive].flatMap(
  (model): ReadonlyArray<VideoRow> => [
    {
      model,
      says: "a camera that stands still",
      call: { prompt },
      options: { cameraFixed: true },
      booked: {}
    },
    {
      model,
      says: "the slow and cheap tier",
      call: { prompt },
      options: { serviceTier: "flex" },
      booked: {}
    },
    {
      model,
      says: "the usual tier by its name",
      call: { prompt },
      options: { serviceTier: "default" },
      booked: {}
    },
    {
      model,
      says: "1080p",
      call: { prompt, resolution: "1920x1088", aspectRatio: "16:9" },
      booked: { resolution: "1080p", ratio: "16:9" }
    }
  ]
)

const ofTwo: ReadonlyArray<VideoRow> = [
  {
    model: two,
    says: "several reference images",
    call: { prompt, ...hd, inputReferences: faces },
    booked: bookedHd,
    inputs: { images: 3 },
    tokens: 108_900
  },
  {
    model: two,
    says: "one reference image",
    call: { prompt },
    options: { referenceImages: [first] },
    booked: {},
    inputs: { images: 1 }
  },
  {
    model: two,
    says: "a reference video",
    call: { prompt, ...hd, inputReferences: [{ data: clip, mediaType: "video/mp4" }] },
    booked: bookedHd,
    inputs: { videos: 1 },
    inputSeconds: 4,
    tokens: 195_300
  },
  {
    model: two,
    says: "reference sound beside an image",
    call: { prompt, inputReferences: [first] },
    options: { referenceAudio: [sound] },
    booked: {},
    inputs: { images: 1, audios: 1 }
  },
  {
    model: two,
    says: "references of all kinds",
    call: { prompt },
    options: { referenceImages: faces, referenceVideos: [clip], referenceAudio: [sound] },
    booked: {},
    inputs: { images: 3, videos: 1, audios: 1 },
    inputSeconds: 4
  },
  { model: two, says: "four seconds", call: { prompt, duration: 4 }, booked: { seconds: 4 } },
  { model: two, says: "fifteen seconds", call: { prompt, duration: 15 }, booked: { seconds: 15 } },
  {
    model: two,
    says: "a length of its choice",
    call: { prompt, duration: -1 },
    booked: { seconds: -1 }
  },
  {
    model: two,
    says: "silence",
    call: { prompt, generateAudio: false },
    booked: { generate_audio: false }
  },
  {
    model: two,
    says: "sound, as an option",
    call: { prompt },
    options: { generateAudio: true },
    booked: { generate_audio: true }
  },
  {
    model: two,
    says: "the widest ratio",
    call: { prompt, resolution: "1280x720", aspectRatio: "21:9" },
    booked: { resolution: "720p", ratio: "21:9" }
  },
  {
    model: twoFast,
    says: "a text alone",
    call: { prompt, ...hd },
    booked: bookedHd,
    tokens: 108_900
  },
  {
    model: twoFast,
    says: "references of all kinds",
    call: { prompt },
    options: { referenceImages: faces, referenceVideos: [clip], referenceAudio: [sound] },
    booked: {},
    inputs: { images: 3, videos: 1, audios: 1 },
    inputSeconds: 4
  }
]

/** What not all models of the family have. */
const ofSome: ReadonlyArray<VideoRow> = [
  ...[oneFive, two].map(
    (model): VideoRow => ({
      model,
      says: "the last frame of the video",
      call: { prompt },
      options: { returnLastFrame: true },
      booked: {}
    })
  ),
  { model: onePro, says: "two seconds", call: { prompt, duration: 2 }, booked: { seconds: 2 } },
  {
    model: onePro,
    says: "twelve seconds",
    call: { prompt, duration: 12 },
    booked: { seconds: 12 }
  },
  {
    model: "seedance-1-0-pro-fast-251015",
    says: "a lone image",
    call: { ...still, duration: 5, resolution: "1280x720" },
    booked: { resolution: "720p" },
    inputs: { images: 1 }
  },
  {
    model: "seedance-1-0-lite-t2v-250428",
    says: "a text alone",
    call: { prompt, resolution: "1280x720", duration: 5 },
    booked: { resolution: "720p" }
  },
  {
    model: "seedance-1-0-lite-i2v-250428",
    says: "first and last frame",
    call: { ...frames, duration: 5 },
    booked: {},
    inputs: { images: 2 }
  },
  { model: oneFive, says: "four seconds", call: { prompt, duration: 4 }, booked: { seconds: 4 } },
  {
    model: oneFive,
    says: "a length of its choice",
    call: { prompt, duration: -1 },
    booked: { seconds: -1 }
  },
  {
    model: oneFive,
    says: "silence",
    call: { prompt, generateAudio: false },
    booked: { generate_audio: false }
  },
  {
    model: oneFive,
    says: "a draft",
    call: { prompt, resolution: "864x480" },
    options: { draft: true },
    booked: { resolution: "480p" }
  },
  {
    model: two,
    says: "a lone image as bytes",
    call: { prompt: { image: bytes, text: prompt } },
    booked: {},
    inputs: { images: 1 }
  },
  {
    model: two,
    says: "an image without words",
    call: { prompt: { image: first } },
    booked: {},
    inputs: { images: 1 }
  },
  {
    model: two,
    says: "480p as it is rendered",
    call: { prompt, resolution: "864x496", aspectRatio: "16:9" },
    booked: { resolution: "480p", ratio: "16:9" },
    tokens: 50_638
  },
  {
    model: two,
    says: "1080p",
    call: { prompt, resolution: "1920x1080", aspectRatio: "16:9" },
    booked: { resolution: "1080p", ratio: "16:9" },
    tokens: 245_025
  },
  {
    model: two,
    says: "4k, by a field that the package hands on",
    call: { prompt, aspectRatio: "16:9" },
    options: { resolution: "4k" },
    booked: { resolution: "4k", ratio: "16:9" },
    tokens: 980_100
  },
  {
    model: two,
    says: "a place further ahead",
    call: { prompt },
    options: { priority: 1 },
    booked: {}
  },
  {
    model: twoFive,
    says: "a text alone",
    call: { prompt, ...hd },
    booked: bookedHd,
    tokens: 108_900
  },
  {
    model: twoFive,
    says: "thirty seconds",
    call: { prompt, duration: 30 },
    booked: { seconds: 30 }
  },
  {
    model: twoFive,
    says: "a length of its choice",
    call: { prompt, duration: -1 },
    booked: { seconds: -1 }
  },
  {
    model: twoFive,
    says: "sound alone",
    call: { prompt },
    options: { referenceAudio: [sound] },
    booked: {},
    inputs: { audios: 1 }
  },
  {
    model: twoFive,
    says: "ten reference images",
    call: { prompt },
    options: { referenceImages: Array.from({ length: 10 }, (_, at) => file(`${at}.png`)) },
    booked: {},
    inputs: { images: 10 }
  },
  {
    model: twoFive,
    says: "a video to edit, in another format",
    call: { prompt },
    options: { referenceVideos: [clip], omni_reference_task_type: "edit", output_format: "mov" },
    booked: {},
    inputs: { videos: 1 },
    inputSeconds: 4
  }
]

export const blockVideos: ReadonlyArray<VideoRow> = [...ofAll, ...ofOlder, ...ofTwo, ...ofSome]

const wan26: ReadonlyArray<VideoRow> = [
  { model: "wan2.6-t2v", says: "a text alone", call: { prompt }, booked: { seconds: 5 } },
  {
    model: "wan2.6-t2v",
    says: "a size and a length",
    call: { prompt, resolution: "720x1280", duration: 15 },
    booked: { seconds: 15, resolution: "720p", ratio: "9:16" }
  },
  {
    model: "wan2.6-t2v",
    says: "every option",
    call: { prompt, resolution: "1920x1080", seed: 7 },
    options: {
      negativePrompt: "rain",
      audioUrl: sound,
      promptExtend: true,
      shotType: "multi",
      watermark: true
    },
    booked: { resolution: "1080p", ratio: "16:9" },
    inputs: { audios: 1 }
  },
  {
    model: "wan2.6-t2v",
    says: "sound, which it has anyway",
    call: { prompt, generateAudio: true },
    booked: { generate_audio: true }
  },
  {
    model: "wan2.6-i2v",
    says: "an image",
    call: { ...still, resolution: "1280x720", duration: 10 },
    booked: { seconds: 10, resolution: "720p" },
    inputs: { images: 1 }
  },
  {
    model: "wan2.6-i2v",
    says: "what is not to be seen",
    call: still,
    options: { negativePrompt: "rain" },
    booked: {},
    inputs: { images: 1 }
  },
  {
    model: "wan2.6-i2v",
    says: "an image, sound and two shots",
    call: still,
    options: { audioUrl: sound, promptExtend: true, shotType: "multi", watermark: false },
    booked: {},
    inputs: { images: 1, audios: 1 }
  },
  {
    model: "wan2.6-i2v",
    says: "sound, which it has anyway",
    call: { ...still, generateAudio: true },
    booked: { generate_audio: true },
    inputs: { images: 1 }
  },
  {
    model: "wan2.6-i2v-flash",
    says: "a silent image of two seconds",
    call: { ...still, generateAudio: false, resolution: "1920x1080", duration: 2 },
    booked: { seconds: 2, resolution: "1080p", generate_audio: false },
    inputs: { images: 1 }
  },
  ...["wan2.6-r2v", "wan2.6-r2v-flash"].flatMap(
    (model): ReadonlyArray<VideoRow> => [
      {
        model,
        says: "references by their addresses",
        call: { prompt, resolution: "1280x720", duration: 10 },
        options: { referenceUrls: [...faces, clip], shotType: "multi" },
        booked: { seconds: 10, ...bookedHd },
        inputs: { images: 3, videos: 1 },
        inputSeconds: 4
      },
      {
        model,
        says: "sound, and what is not to be seen",
        call: { prompt, inputReferences: [first], generateAudio: true },
        options: { negativePrompt: "rain" },
        booked: { generate_audio: true },
        inputs: { images: 1 }
      }
    ]
  ),
  {
    model: "wan2.6-r2v-flash",
    says: "silence",
    call: { prompt, inputReferences: [first], generateAudio: false },
    booked: { generate_audio: false },
    inputs: { images: 1 }
  }
]

const wan27: ReadonlyArray<VideoRow> = [
  { model: "wan2.7-t2v", says: "a text alone", call: { prompt }, booked: { seconds: 5 } },
  {
    model: "wan2.7-t2v-2026-06-12",
    says: "a tier, a ratio and a length",
    call: { prompt, resolution: "1920x1080", aspectRatio: "4:3", duration: 15 },
    booked: { seconds: 15, resolution: "1080p", ratio: "4:3" }
  },
  {
    model: "wan2.7-t2v",
    says: "every option",
    call: { prompt, ...hd, seed: 7 },
    options: { negativePrompt: "rain", audioUrl: sound, promptExtend: false, watermark: true },
    booked: bookedHd,
    inputs: { audios: 1 }
  },
  {
    model: "wan2.7-r2v",
    says: "reference images and a video",
    call: { prompt, ...hd, inputReferences: [first, clip], duration: 10 },
    booked: { seconds: 10, ...bookedHd },
    inputs: { images: 1, videos: 1 },
    inputSeconds: 4
  },
  {
    model: "wan2.7-r2v",
    says: "a reference image and a first frame",
    call: { prompt },
    options: {
      media: [
        { type: "reference_image", url: faces[0] ?? "" },
        { type: "first_frame", url: first }
      ]
    },
    booked: {},
    inputs: { images: 2 }
  },
  {
    model: "wan2.7-r2v-2026-06-12",
    says: "a face with a voice",
    call: { prompt },
    options: { media: [{ type: "reference_image", url: first, referenceVoice: sound }] },
    booked: {},
    inputs: { images: 1, audios: 1 }
  },
  {
    model: "wan2.7-r2v",
    says: "what is not to be seen",
    call: { prompt, inputReferences: faces },
    options: { negativePrompt: "rain" },
    booked: {},
    inputs: { images: 3 }
  }
]

const third = "wan3.0-video"
const prime = "wan3.0-video-prime"

const wan3: ReadonlyArray<VideoRow> = [
  { model: third, says: "a text alone", call: { prompt }, booked: { seconds: 5 } },
  {
    model: third,
    says: "a silent text",
    call: { prompt, ...hd, duration: 5, generateAudio: false },
    booked: { seconds: 5, ...bookedHd, generate_audio: false }
  },
  {
    model: third,
    says: "the least resolution, the widest ratio and two seconds",
    call: { prompt, resolution: "832x480", aspectRatio: "21:9", duration: 2, seed: 7 },
    options: { promptExtend: false, watermark: true },
    booked: { seconds: 2, resolution: "480p", ratio: "21:9" }
  },
  {
    model: third,
    says: "thirty seconds",
    call: { prompt, resolution: "1920x1080", aspectRatio: "9:16", duration: 30 },
    booked: { seconds: 30, resolution: "1080p", ratio: "9:16" }
  },
  {
    model: third,
    says: "a length of its choice",
    call: { prompt, duration: -1 },
    booked: { seconds: -1 }
  },
  {
    model: third,
    says: "a lone image in its own ratio",
    call: { ...still, aspectRatio: "adaptive" },
    booked: { ratio: "adaptive" },
    inputs: { images: 1 }
  },
  {
    model: third,
    says: "first and last frame",
    call: { ...frames, ...hd, generateAudio: true },
    booked: { ...bookedHd, generate_audio: true },
    inputs: { images: 2 }
  },
  {
    model: third,
    says: "reference images and a video",
    call: { prompt, inputReferences: [...faces, clip], duration: 10 },
    booked: { seconds: 10 },
    inputs: { images: 3, videos: 1 },
    inputSeconds: 4
  },
  {
    model: third,
    says: "references of all kinds",
    call: { prompt, ...hd },
    options: {
      media: [
        { type: "reference_image", url: first },
        { type: "reference_video", url: clip },
        { type: "reference_audio", url: sound }
      ]
    },
    booked: bookedHd,
    inputs: { images: 1, videos: 1, audios: 1 },
    inputSeconds: 4
  },
  { model: prime, says: "a text alone", call: { prompt }, booked: { seconds: 5 } },
  {
    model: prime,
    says: "a lone image of thirty silent seconds",
    call: { ...still, ...hd, duration: 30, generateAudio: false },
    booked: { seconds: 30, ...bookedHd, generate_audio: false },
    inputs: { images: 1 }
  }
]

export const cloudVideos: ReadonlyArray<VideoRow> = [...wan26, ...wan27, ...wan3]

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
