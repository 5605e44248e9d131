/**
 * What the models of a vendor take, family by family. A row tells which path or mode of the vendor's
 * interface each combination of inputs goes by, so that a new model of a known vendor is a new row.
 * What a row has no form for has no place at the vendor and is refused before anything is held;
 * whatever has a place is handed on, and the vendor's own refusal is the answer.
 */
import { Result } from "effect"
import type { Resolution } from "../tiers.ts"
import type { ImageRole } from "../VideoBody.ts"
import type { VideoBlock } from "../VideoInput.ts"

export const inputRoles = [
  "first_frame",
  "last_frame",
  "reference_image",
  "reference_video",
  "reference_audio"
] as const
/** What a medium is for. */
export type InputRole = (typeof inputRoles)[number]

/** One way of ordering from a model. */
export interface VideoForm<Mode extends string = string> {
  /** The vendor's name of the path or of the shape. */
  readonly mode: Mode
  /** The media it has a place for, with the most of each that the vendor takes: a hint, as the vendor counts itself. */
  readonly takes: Readonly<Partial<Record<InputRole, number>>>
  /** Roles of which at least one is required; none when left out. */
  readonly needs?: ReadonlyArray<InputRole>
  /** A picture is a first frame here only where its client calls it so. */
  readonly hasNamedFrames?: boolean
}

/** Whether a model makes sound: as it is told to, always, never, or by itself in a way nobody can set. */
export type SoundOfModel = "switch" | "always" | "never" | "unset"

/** Whether an order's sound can be had: a wish that no field has must not be dropped, as it orders another video. */
export const canSound = (sound: SoundOfModel, hasSound: boolean | null): boolean =>
  hasSound === null || sound === "switch" || sound === (hasSound ? "always" : "never")

export interface VideoFamily<Mode extends string = string> {
  /** The vendor's public name of the family. */
  readonly name: string
  /** The vendor's ids of its models, with what relays put around them. */
  readonly ids: RegExp
  /** The first one that has a place for all media of an order is the one it goes by. */
  readonly forms: ReadonlyArray<VideoForm<Mode>>
  /** Whole seconds, from the least to the most. */
  readonly seconds: readonly [min: number, max: number]
  /** Where only some of them may be ordered. */
  readonly onlySeconds?: ReadonlyArray<number>
  /** Whether the model chooses its own length, which is -1 on the wire. */
  readonly isSmart?: boolean
  readonly resolutions: ReadonlyArray<Resolution>
  readonly sound: SoundOfModel
  /** The protocol's parameters that the family has. */
  readonly parameters: ReadonlyArray<string>
}

/** The family of a model; null where no row knows it. */
export const familyOf = <Family extends VideoFamily>(
  families: ReadonlyArray<Family>,
  upstreamModel: string
): Family | null => families.find(({ ids }) => ids.test(upstreamModel)) ?? null

/** A medium with what it is for; a picture without a role of its client's has the one it gets here. */
interface PlacedMedium {
  readonly role: InputRole
  /** What the client wrote; null where the place was found by the model. */
  readonly ordered: ImageRole | null
  readonly url: string
}

export interface PlacedOrder<Mode extends string = string> {
  readonly mode: Mode
  /** The media in the client's order. */
  readonly media: ReadonlyArray<PlacedMedium>
}

type MediaBlock = Exclude<VideoBlock, { readonly type: "text" }>

const toPlacedMedium =
  (defaultRole: ImageRole) =>
  (block: MediaBlock): PlacedMedium =>
    block.type === "image"
      ? { role: block.role ?? defaultRole, ordered: block.role, url: block.url }
      : { role: `reference_${block.type}`, ordered: null, url: block.url }

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
 * Where the media of an order go. One picture without a role is the first frame where the model has
 * one beside what else is ordered and the client names no other, else a reference; several without a
 * role are references. Fails where the model has no form for them.
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
    if (form !== undefined) return Result.succeed({ mode: form.mode, media: placedMedia })
  }
  return Result.failVoid
}

const mediaNames: Readonly<Record<InputRole, readonly [one: string, many: string]>> = {
  first_frame: ["a first frame", "first frames"],
  last_frame: ["a last frame", "last frames"],
  reference_image: ["a reference image", "reference images"],
  reference_video: ["a reference video", "reference videos"],
  reference_audio: ["a reference sound", "reference sounds"]
}

const formInWords = ({ takes }: VideoForm): string => {
  const media = inputRoles.flatMap((role) => {
    const maximum = takes[role]
    if (maximum === undefined) return []
    return [maximum === 1 ? mediaNames[role][0] : `up to ${maximum} ${mediaNames[role][1]}`]
  })
  return media.length === 0 ? "a text alone" : media.join(", ")
}

/** What a family takes, in words: each of its forms, with the most media of each kind. */
export const describeInputs = ({ forms }: Pick<VideoFamily, "forms">): string =>
  [...new Set(forms.map(formInWords))].join("; or ")
