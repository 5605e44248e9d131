/** Videos of the cloud, by the generations of its models. */
import {
  bookedHd,
  clip,
  faces,
  first,
  frames,
  hd,
  prompt,
  sound,
  still,
  type VideoRow
} from "./vendorSdks.rows.ts"

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
