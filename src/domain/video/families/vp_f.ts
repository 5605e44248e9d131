/**
 * The models of vp_f's vendor. The format of an order depends on the generation of the model. Up to
 * the third generation, text, images and references have separate models.
 */
import { Resolution } from "../tiers.ts"
import type { ImageRole } from "../VideoBody.ts"
import type { VideoBlock } from "../VideoInput.ts"
import {
  familyOf,
  type PlaceOrder,
  rolesByForms,
  rolesWith,
  type SoundOfModel,
  type VideoFamily
} from "./VideoFamily.ts"

/**
 * How `input` contains the media: each kind in its own field, as a list of plain URLs, or as a list
 * of items with a type.
 */
export type CloudMode = "fields" | "reference_urls" | "media"

export interface CloudFamily extends VideoFamily<CloudMode> {
  /**
   * The fields that define the size of the video. If only the resolution is sent, the first frame
   * decides the shape.
   */
  readonly picture: "size" | "resolution" | "resolution_and_ratio"
  /** The item type of audio in `media`. */
  readonly soundItem?: "driving_audio" | "reference_audio"
}

const common = ["seed", "watermark", "prompt_extend"]

const generation27 = {
  seconds: [2, 15],
  resolutions: ["720p", "1080p"],
  sound: "always",
  parameters: [...common, "negative_prompt"]
} as const

const generation26 = {
  ...generation27,
  parameters: [...generation27.parameters, "shot_type"]
} as const

const frames = { first_frame: 1, last_frame: 1 }
const references = { reference_image: 5, reference_video: 3 }
const moreReferences = { reference_image: 10, reference_video: 5, reference_audio: 5 }

const textAlone = { mode: "fields", takes: {} } as const
const texts = [textAlone, { mode: "fields", takes: { reference_audio: 1 } }] as const

const image26 = {
  ...generation26,
  forms: [{ mode: "fields", takes: { first_frame: 1, reference_audio: 1 } }],
  picture: "resolution"
} as const

const references26 = {
  ...generation26,
  forms: [{ mode: "reference_urls", takes: references }],
  seconds: [2, 10],
  picture: "size"
} as const

export const cloudFamilies: ReadonlyArray<CloudFamily> = [
  {
    ...generation26,
    name: "wan 2.6 text to video",
    ids: /wan-?2\.6-t2v(?![a-z0-9])/i,
    forms: texts,
    picture: "size"
  },
  {
    ...image26,
    name: "wan 2.6 image to video flash",
    ids: /wan-?2\.6-i2v-flash(?![a-z0-9])/i,
    sound: "switch"
  },
  { ...image26, name: "wan 2.6 image to video", ids: /wan-?2\.6-i2v(?![a-z0-9])/i },
  {
    ...references26,
    name: "wan 2.6 references to video flash",
    ids: /wan-?2\.6-r2v-flash(?![a-z0-9])/i,
    sound: "switch"
  },
  { ...references26, name: "wan 2.6 references to video", ids: /wan-?2\.6-r2v(?![a-z0-9])/i },
  {
    ...generation27,
    name: "wan 2.7 text to video",
    ids: /wan-?2\.7-t2v(?![a-z0-9])/i,
    forms: texts,
    picture: "resolution_and_ratio"
  },
  {
    ...generation27,
    name: "wan 2.7 image to video",
    ids: /wan-?2\.7-i2v(?![a-z0-9])/i,
    forms: [
      { mode: "media", takes: { ...frames, reference_audio: 1 } },
      { mode: "media", takes: { extend_video: 1, last_frame: 1 }, needs: ["extend_video"] }
    ],
    picture: "resolution",
    soundItem: "driving_audio"
  },
  {
    ...generation27,
    name: "wan 2.7 references to video",
    ids: /wan-?2\.7-r2v(?![a-z0-9])/i,
    forms: [{ mode: "media", takes: { first_frame: 1, ...references }, hasNamedFrames: true }],
    picture: "resolution_and_ratio"
  },
  {
    name: "wan 3.0",
    // The pattern also matches the faster `wan3.0-video-prime`.
    ids: /wan-?3\.0-video(?![a-z0-9])/i,
    forms: [
      textAlone,
      { mode: "media", takes: frames },
      { mode: "media", takes: moreReferences },
      // The list accepts frames together with references; the vendor itself refuses combinations
      // that it does not support.
      { mode: "media", takes: { ...frames, ...moreReferences }, hasNamedFrames: true }
    ],
    seconds: [2, 30],
    isSmart: true,
    resolutions: ["480p", "720p", "1080p"],
    picture: "resolution_and_ratio",
    sound: "switch",
    soundItem: "reference_audio",
    parameters: common
  }
]

type CloudKind = "text" | "image" | "reference"

/** What the id of a model without a family tells. */
interface CloudTraits {
  /** The kind of the model; null if the id does not contain it. */
  readonly kind: CloudKind | null
  /**
   * Whether the model is version 2.6 or older; every other id, even one without a version, uses the
   * newer format.
   */
  readonly isOld: boolean
  /** Whether the model is the flash variant, whose sound can be switched off. */
  readonly isFlash: boolean
}

const kinds: Readonly<Record<string, CloudKind>> = { t2v: "text", i2v: "image", r2v: "reference" }

/**
 * Reads the kind and version from a model id, such as `x2.6-t2v`, `x2.6-i2v-flash` or, on a relay,
 * `x2.7-r2v-cn`.
 */
const cloudTraitsOf = (model: string): CloudTraits => {
  const kind = /(?:^|[-_.])([tir]2v)(?![a-z0-9])/i.exec(model)?.[1]?.toLowerCase()
  const [, major, minor] = /(\d+)\.(\d+)/.exec(model) ?? []
  return {
    kind: kinds[kind ?? ""] ?? null,
    isOld: major !== undefined && (Number(major) < 2 || (major === "2" && Number(minor) <= 6)),
    isFlash: /(?:^|[-_.])flash(?![a-z0-9])/i.test(model)
  }
}

export const isReferenceBlock = (block: VideoBlock): boolean =>
  block.type === "video" || (block.type === "image" && block.role === "reference_image")

export const isFrameBlock = (block: VideoBlock): boolean =>
  block.type === "image" && (block.role === "first_frame" || block.role === "last_frame")

/** The kind of model that the order's media need, for ids that do not contain the kind. */
const kindOfInputs = (blocks: ReadonlyArray<VideoBlock>): CloudKind => {
  const images = blocks.filter(({ type }) => type === "image")
  if (blocks.some(isReferenceBlock) || images.filter((block) => !isFrameBlock(block)).length > 1) {
    return "reference"
  }
  return images.length > 0 ? "image" : "text"
}

export interface UnknownCloudModel extends CloudTraits {
  readonly kind: CloudKind
  /** The role of an image without one. */
  readonly defaultRole: ImageRole
  readonly sound: SoundOfModel
}

/** A model without a family: the kind is that of the order's media if the id contains none. */
export const unknownCloudModel = (
  upstreamModel: string,
  blocks: ReadonlyArray<VideoBlock>
): UnknownCloudModel => {
  const traits = cloudTraitsOf(upstreamModel)
  const kind = traits.kind ?? kindOfInputs(blocks)
  const hasSoundSwitch = kind === "reference" || (kind === "image" && traits.isFlash)
  return {
    ...traits,
    kind,
    defaultRole: kind === "image" ? "first_frame" : "reference_image",
    sound: hasSoundSwitch ? "switch" : "unset"
  }
}

export const placeCloud: PlaceOrder = (upstreamModel, blocks) => {
  const family = familyOf(cloudFamilies, upstreamModel)
  if (family !== null) return { roles: rolesByForms(family, blocks), sound: family.sound }
  const { defaultRole, sound } = unknownCloudModel(upstreamModel, blocks)
  return { roles: rolesWith(blocks, defaultRole), sound }
}

/** The resolutions of models that are sent a size, which the vendor lists for these alone. */
export const sizedCloudResolutions = ["720p", "1080p"] as const satisfies Array<Resolution>

/** Whether an order for the model states a size, which combines resolution and ratio. */
export const isSizedCloud = (model: string): boolean => {
  const family = familyOf(cloudFamilies, model)
  const { kind, isOld } = cloudTraitsOf(model)
  return family === null ? isOld && kind !== "image" : family.picture === "size"
}

/** The resolutions that an order for a model can be written with. */
export const cloudResolutions = (model: string): ReadonlyArray<Resolution> =>
  isSizedCloud(model) ? sizedCloudResolutions : Resolution.literals
