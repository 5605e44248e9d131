/** vp_d, vp_e and the relay's families of them, billed by ordered seconds. */
import { type Form, I1, I2, inputs, type Subject, V1, type Wish } from "./Subject.ts"
import { secondTariff } from "./tariffs.ts"

// vp_d: the model in the path, settings beside prompt or contents

const options = { external_task_id: "<task>", watermark_info: { enabled: false } }

const itemsOf =
  (items: ReadonlyArray<object>, more: object = {}) =>
  ({ prompt, seconds, tier }: Wish) => ({
    contents: [{ type: "prompt", text: prompt }, ...items],
    settings: { resolution: tier, duration: seconds, ...more },
    options
  })

/** The mixed mode is told a ratio wherever no frame and no video has one. */
const unshaped = { aspect_ratio: "16:9" }

const path = "/omni-video/vendor-clip-omni"

const vp_d: ReadonlyArray<Form> = [
  { says: "a text", input: inputs.text, path, body: itemsOf([], unshaped) },
  {
    says: "a text with ratio and sound",
    input: inputs.shaped,
    path,
    body: itemsOf([], { aspect_ratio: "9:16", audio: "native" })
  },
  {
    says: "an image",
    input: inputs.image,
    path,
    body: itemsOf([{ type: "first_frame", url: I1 }])
  },
  {
    says: "an image with ratio and sound",
    input: { ...inputs.image, ...inputs.shaped },
    path,
    body: itemsOf([{ type: "first_frame", url: I1 }], { audio: "native" })
  },
  {
    says: "two images",
    input: inputs.images,
    path,
    body: itemsOf(
      [
        { type: "refer_image", url: I1 },
        { type: "refer_image", url: I2 }
      ],
      unshaped
    )
  },
  {
    says: "two frames",
    input: inputs.frames,
    path,
    body: itemsOf([
      { type: "first_frame", url: I1 },
      { type: "last_frame", url: I2 }
    ])
  },
  {
    says: "a video",
    input: inputs.video,
    path,
    body: itemsOf([{ type: "feature_video", url: V1 }], { audio: "off" })
  },
  {
    says: "a video with ratio and sound",
    input: { ...inputs.video, ...inputs.shaped },
    path,
    body: itemsOf([{ type: "feature_video", url: V1 }], { audio: "native" }),
    refusal: () => ({
      code: 1201,
      message: "Invalid value: settings.audio native with a video",
      request_id: "<id>"
    })
  },
  {
    says: "a sound",
    input: inputs.audio,
    path: null,
    body: () => null,
    refusal: () => ({
      code: 1201,
      message:
        "Invalid value: contents. The model takes a first frame, a last frame, up to 7 reference images, a reference video; or up to 4 reference images, a video to edit; or up to 4 reference images, a video to extend"
    })
  }
]

// vp_e: a path for each mode, images as addresses

const flatOf =
  (model: string, images: ReadonlyArray<string> | null, more: object = {}) =>
  ({ prompt, seconds, tier }: Wish) => ({
    model,
    prompt,
    ...(images === null ? {} : { images }),
    duration: seconds,
    resolution: tier,
    ...more,
    watermark: false,
    payload: "<task>"
  })

const fieldError = (reason: string, message: string) => ({
  code: 400,
  reason,
  message,
  metadata: { trace_id: "<id>" }
})

const invalidField = (field: string) => fieldError("FieldInvalid", `invalid field: ${field}`)

/** What was never sent has no trace id of the vendor's. */
const unwanted = (field: string) => ({
  code: 400,
  reason: "FieldUnwanted",
  message: `unwanted field: ${field}`
})

/** Tiers the vendor does not have, which a relay offers all the same. */
const noTier = ({ tier }: Wish) =>
  tier === "480p" || tier === "4k" ? invalidField("resolution") : undefined

/** Reference mode begins at three seconds. */
const noReference = (wish: Wish) => (wish.seconds < 3 ? invalidField("duration") : noTier(wish))

const vp_e = (segment: string, model: string): ReadonlyArray<Form> => [
  {
    says: "a text",
    input: inputs.text,
    path: `${segment}/ent/v2/text2video`,
    body: flatOf(model, null),
    refusal: noTier
  },
  {
    says: "a text with ratio and sound",
    input: inputs.shaped,
    path: `${segment}/ent/v2/text2video`,
    body: flatOf(model, null, { aspect_ratio: "9:16", audio: true }),
    refusal: noTier
  },
  {
    says: "an image with ratio and sound",
    input: { ...inputs.image, ...inputs.shaped },
    path: `${segment}/ent/v2/img2video`,
    body: flatOf(model, [I1], { audio: true }),
    refusal: noTier
  },
  {
    says: "two images",
    input: inputs.images,
    path: `${segment}/ent/v2/reference2video`,
    body: flatOf(model, [I1, I2]),
    refusal: noReference
  },
  {
    says: "two frames",
    input: inputs.frames,
    path: `${segment}/ent/v2/start-end2video`,
    body: flatOf(model, [I1, I2]),
    refusal: noTier
  },
  {
    says: "a sound",
    input: inputs.audio,
    path: null,
    body: () => null,
    refusal: () => unwanted("audios")
  },
  {
    says: "a video",
    input: inputs.video,
    path: null,
    body: () => null,
    refusal: () => unwanted("videos")
  }
]

// The relay's family d: the older interface of vp_d's vendor

const quality: Readonly<Record<string, string>> = { "720p": "std", "1080p": "pro", "4k": "4k" }

const olderOf =
  (more: object = {}) =>
  ({ prompt, seconds, tier }: Wish) => ({
    model_name: "relay-clip-d",
    prompt,
    duration: String(seconds),
    mode: quality[tier],
    ...more
  })

const noQuality = ({ tier }: Wish) => quality[tier] === undefined

const olderRefusal = (wish: Wish) => {
  if (noQuality(wish)) {
    return { code: 1201, message: `Resolution ${wish.tier} is not supported` }
  }
  return wish.seconds === 1 || wish.seconds === 16
    ? { code: 1201, message: "Invalid value: duration", request_id: "<id>" }
    : undefined
}

const relayed = {
  unsent: noQuality,
  refusal: olderRefusal
}

const unsupported = (says: string, input: Form["input"], message: string): Form => ({
  says,
  input,
  path: null,
  body: () => null,
  refusal: () => ({ code: 1201, message })
})

const relay_d: ReadonlyArray<Form> = [
  {
    says: "a text",
    input: inputs.text,
    path: "/kling/v1/videos/text2video",
    body: olderOf(),
    ...relayed
  },
  {
    says: "a text with ratio and sound",
    input: inputs.shaped,
    path: "/kling/v1/videos/text2video",
    body: olderOf({ aspect_ratio: "9:16", sound: "on" }),
    ...relayed
  },
  {
    says: "an image with ratio and sound",
    input: { ...inputs.image, ...inputs.shaped },
    path: "/kling/v1/videos/image2video",
    body: olderOf({ image: I1, sound: "on" }),
    ...relayed
  },
  unsupported("two images", inputs.images, "Only one image is supported"),
  unsupported("a sound", inputs.audio, "Audio input is not supported"),
  unsupported("a video", inputs.video, "Video input is not supported")
]

const relayTiers = ["480p", "540p", "720p", "1080p", "4k"] as const

export const unifiedTasks: ReadonlyArray<Subject> = [
  {
    says: "vp_d",
    model: "clip-d",
    protocol: "vp_d",
    seconds: { least: 3, inside: 9, most: 15, smart: false },
    tiers: ["720p", "1080p", "4k"],
    tariff: secondTariff,
    forms: vp_d
  },
  {
    says: "vp_c for vp_d",
    model: "relay-d",
    protocol: "vp_c",
    seconds: { least: 1, inside: 9, most: 16, smart: false },
    tiers: relayTiers,
    tariff: secondTariff,
    forms: relay_d
  }
]

export const thirdGeneration: ReadonlyArray<Subject> = [
  {
    says: "vp_e",
    model: "clip-e",
    protocol: "vp_e",
    seconds: { least: 1, inside: 9, most: 16, smart: false },
    tiers: ["540p", "720p", "1080p"],
    tariff: secondTariff,
    forms: vp_e("", "vendor-clip-e")
  },
  {
    says: "vp_c for vp_e",
    model: "relay-e",
    protocol: "vp_c",
    seconds: { least: 1, inside: 9, most: 16, smart: false },
    tiers: relayTiers,
    tariff: secondTariff,
    forms: vp_e("/vidu", "relay-clip-e")
  }
]
