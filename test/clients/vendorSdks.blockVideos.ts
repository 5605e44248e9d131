/** Videos of the vendor with content blocks, by the generations of its models. */
import {
  bookedHd,
  bytes,
  clip,
  faces,
  file,
  first,
  frames,
  hd,
  last,
  prompt,
  sound,
  still,
  type VideoRow
} from "./vendorSdks.rows.ts"

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
