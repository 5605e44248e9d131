/**
 * The inputs of a vendor's models, by family. A row states which path or mode of the vendor's API
 * serves each combination of inputs, so that a new model of a known vendor needs only a new row. A
 * combination without a form has no place in the vendor's API and is refused before a hold is
 * taken; every other combination is forwarded, and the vendor may refuse it.
 */
import { Result } from "effect"
import type { VendorParameters } from "../../catalog/vendorParameters.ts"
import type { ShotLimits } from "../shots.ts"
import type { Ratio } from "../sizes.ts"
import type { Resolution } from "../tiers.ts"
import type { ImageRole } from "../VideoBody.ts"
import type { VideoBlock } from "../VideoInput.ts"

export const inputRoles = [
  "first_frame",
  "middle_frame",
  "last_frame",
  "reference_image",
  "reference_video",
  "reference_audio",
  "edit_video",
  "extend_video"
] as const
/** The role of a medium. */
export type InputRole = (typeof inputRoles)[number]

/** One form in which a model can be ordered. */
export interface VideoForm<Mode extends string = string> {
  /** The vendor's name of the path or of the mode. */
  readonly mode: Mode
  /**
   * The accepted roles, with the vendor's maximum number of media for each. The numbers are hints,
   * as the vendor itself enforces them.
   */
  readonly takes: Readonly<Partial<Record<InputRole, number>>>
  /** The roles of which at least one is required; missing if none is. */
  readonly needs?: ReadonlyArray<InputRole>
  /** The only seconds of orders in this form; those of the family if missing. */
  readonly onlySeconds?: ReadonlyArray<number>
  /** The only resolutions of orders in this form; those of the family if missing. */
  readonly resolutions?: ReadonlyArray<Resolution>
  /** Whether an image counts as the first frame only if the client gives it this role. */
  readonly hasNamedFrames?: boolean
}

/**
 * When a model makes sound: as a field of the order sets, always, never, or as the model itself
 * decides, which no field can change.
 */
export type SoundOfModel = "switch" | "always" | "never" | "unset"

/**
 * Whether a model can satisfy the order's choice of sound. A choice that no field can carry must
 * not be dropped, because the result would be another video.
 */
export const canSound = (sound: SoundOfModel, hasSound: boolean | null): boolean =>
  hasSound === null || sound === "switch" || sound === (hasSound ? "always" : "never")

export interface VideoFamily<Mode extends string = string> {
  /** The vendor's public name of the family. */
  readonly name: string
  /** A pattern of the vendor's model ids, with the prefixes and suffixes that relays add. */
  readonly ids: RegExp
  /** The forms; an order uses the first form that accepts all of its media. */
  readonly forms: ReadonlyArray<VideoForm<Mode>>
  /** The minimum and maximum of whole seconds. */
  readonly seconds: readonly [min: number, max: number]
  /** The allowed seconds, if only some values can be ordered. */
  readonly onlySeconds?: ReadonlyArray<number>
  /** Whether the model can choose the duration, which is -1 in the vendor's API. */
  readonly isSmart?: boolean
  readonly resolutions: ReadonlyArray<Resolution>
  /** The only ratios that can be ordered; any if missing. */
  readonly acceptedRatios?: ReadonlyArray<Ratio>
  /** What the model takes of shots; missing if an order cannot list them. */
  readonly shots?: ShotLimits
  readonly sound: SoundOfModel
  /** The names of the protocol's parameters that the family supports. */
  readonly parameters: ReadonlyArray<string>
  /** The family's own bounds of these parameters, where those of the protocol are wider. */
  readonly ownParameters?: VendorParameters
}

/** The family of a model; null if no row matches. */
export const familyOf = <Family extends VideoFamily>(
  families: ReadonlyArray<Family>,
  upstreamModel: string
): Family | null => families.find(({ ids }) => ids.test(upstreamModel)) ?? null

/** A medium with its role; an image without a role from the client is assigned one. */
interface PlacedMedium {
  readonly role: InputRole
  /** The role that the client gave; null if the role was assigned. */
  readonly ordered: ImageRole | null
  readonly url: string
}

export interface PlacedOrder<Mode extends string = string> {
  readonly form: VideoForm<Mode>
  readonly mode: Mode
  /** The media in the client's order. */
  readonly media: ReadonlyArray<PlacedMedium>
}

type MediaBlock = Exclude<VideoBlock, { readonly type: "text" }>

const toPlacedMedium =
  (defaultRole: ImageRole) =>
  (block: MediaBlock): PlacedMedium => {
    const { url } = block
    switch (block.type) {
      case "image":
        return { role: block.role ?? defaultRole, ordered: block.role, url }
      case "audio":
        return { role: "reference_audio", ordered: null, url }
      case "video":
        return { role: block.role ?? "reference_video", ordered: null, url }
    }
  }

const formFor = <Mode extends string>(
  forms: ReadonlyArray<VideoForm<Mode>>,
  media: ReadonlyArray<PlacedMedium>
): VideoForm<Mode> | undefined => {
  const roles = new Set(media.map(({ role }) => role))
  const areFramesNamed = media.every(
    ({ role, ordered }) => role !== "first_frame" || ordered === role
  )
  return forms.find(
    ({ takes, needs, hasNamedFrames = false }) =>
      [...roles].every((role) => takes[role] !== undefined) &&
      (needs === undefined || needs.some((role) => roles.has(role))) &&
      (areFramesNamed || !hasNamedFrames)
  )
}

/**
 * Assigns roles to the media of an order. A single image without a role becomes the first frame, if
 * the model accepts one together with the other media and the client names no other first frame;
 * otherwise it becomes a reference. Several images without a role become references. Fails if the
 * model has no form for the media.
 */
export const placeMedia = <Mode extends string>(
  { forms }: Pick<VideoFamily<Mode>, "forms">,
  blocks: ReadonlyArray<VideoBlock>
): Result.Result<PlacedOrder<Mode>, void> => {
  const media = blocks.filter((block) => block.type !== "text")
  const roles = media.flatMap((block) => (block.type === "image" ? [block.role] : []))
  const hasOneWithoutRole = roles.filter((role) => role === null).length === 1
  const meanings: ReadonlyArray<ImageRole> =
    hasOneWithoutRole && !roles.includes("first_frame")
      ? ["first_frame", "reference_image"]
      : ["reference_image"]
  for (const meaning of meanings) {
    const placedMedia = media.map(toPlacedMedium(meaning))
    const form = formFor(forms, placedMedia)
    if (form !== undefined) return Result.succeed({ form, mode: form.mode, media: placedMedia })
  }
  return Result.failVoid
}

/** How a vendor gets an order. */
export interface VideoPlacement {
  /** The roles of the media, in the client's order. */
  readonly roles: ReadonlyArray<InputRole>
  readonly sound: SoundOfModel
}

/**
 * Decides how an order is sent to a model. Adapters, facts and limits read the same decision, so
 * that an order is priced as what is sent.
 */
export type PlaceOrder = (
  upstreamModel: string,
  blocks: ReadonlyArray<VideoBlock>
) => VideoPlacement

/** The roles of media, with a role for images without one. */
export const rolesWith = (
  blocks: ReadonlyArray<VideoBlock>,
  defaultRole: ImageRole
): ReadonlyArray<InputRole> =>
  blocks.flatMap((block) =>
    block.type === "text" ? [] : [toPlacedMedium(defaultRole)(block).role]
  )

/** The forms of a model that no family describes. */
export const anyForm: Pick<VideoFamily, "forms"> = {
  forms: [
    { mode: "frames", takes: { first_frame: 1, last_frame: 1 } },
    { mode: "references", takes: { reference_image: 1, reference_video: 1, reference_audio: 1 } }
  ]
}

/** The roles by the forms of a model; those of an order without a form, which is refused, as sent. */
export const rolesByForms = (
  family: Pick<VideoFamily, "forms">,
  blocks: ReadonlyArray<VideoBlock>
): ReadonlyArray<InputRole> =>
  Result.match(placeMedia(family, blocks), {
    onSuccess: ({ media }) => media.map(({ role }) => role),
    onFailure: () => rolesWith(blocks, "reference_image")
  })

const mediaNames: Readonly<Record<InputRole, readonly [one: string, many: string]>> = {
  first_frame: ["a first frame", "first frames"],
  middle_frame: ["a frame between them", "frames between them"],
  last_frame: ["a last frame", "last frames"],
  reference_image: ["a reference image", "reference images"],
  reference_video: ["a reference video", "reference videos"],
  reference_audio: ["a reference sound", "reference sounds"],
  edit_video: ["a video to edit", "videos to edit"],
  extend_video: ["a video to extend", "videos to extend"]
}

/** Describes media by role, such as `a first frame, up to 3 reference images`. */
export const describeTakes = (takes: VideoForm["takes"]): string => {
  const media = inputRoles.flatMap((role) => {
    const maximum = takes[role] ?? 0
    if (maximum === 0) return []
    return [maximum === 1 ? mediaNames[role][0] : `up to ${maximum} ${mediaNames[role][1]}`]
  })
  return media.length === 0 ? "a text alone" : media.join(", ")
}

/**
 * Describes the inputs of a family: each of its forms, with the maximum number of media of each
 * kind.
 */
export const describeInputs = ({ forms }: Pick<VideoFamily, "forms">): string =>
  [...new Set(forms.map(({ takes }) => describeTakes(takes)))].join("; or ")
