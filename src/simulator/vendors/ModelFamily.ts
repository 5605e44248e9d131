/** The limits of a vendor's models, with a row for each generation. */

/** The role of an input medium in an order. */
export type MediaRole =
  | "first_frame"
  | "middle_frame"
  | "last_frame"
  | "reference_image"
  | "reference_video"
  | "reference_audio"
  | "edit_video"
  | "extend_video"

/** Maximum number of media per role in one order; a role that is left out is not supported. */
type MediaLimits = Readonly<Partial<Record<MediaRole, number>>>

export interface ModelFamily<Mode extends string = string> {
  readonly name: string
  readonly ids: RegExp
  /** The modes (paths or request shapes) of an order, each with the media it accepts. */
  readonly modes: Readonly<Partial<Record<Mode, MediaLimits>>>
  /** The range of lengths in whole seconds. */
  readonly seconds: readonly [least: number, most: number]
  /** The range of lengths that can be ordered, where it is wider than what the model chooses from. */
  readonly accepts?: readonly [least: number, most: number]
  /** The supported lengths, where the range has gaps. */
  readonly onlySeconds?: ReadonlyArray<number>
  /** Whether -1 lets the model choose the length. */
  readonly choosesSeconds: boolean
  readonly resolutions: ReadonlyArray<string>
  /** The other supported parameters, by the vendor's names. */
  readonly parameters: ReadonlyArray<string>
}

/** The most seconds of a model that is newer than all families here. */
export const longestNewSeconds = 30

/** Matches the ids of the vendors' product lines, also of versions that no family here has. */
const productLines =
  /(?:^|[^a-z])(?:doubao|gemini|h\d|hailuo|kling|luma|minimax|omni|pixverse|runway|seedance|sora|veo|vidu|wan)/i

/** Whether a model that no family matches is of a product line, and so newer than the families. */
export const isNewModel = (model: string): boolean => productLines.test(model)

/** The family of a model; the fallback where no row matches the id. */
export const familyOf = <Family extends ModelFamily>(
  families: ReadonlyArray<Family>,
  model: string,
  fallback: Family
): Family => families.find(({ ids }) => ids.test(model)) ?? fallback

/** Whether the family supports this length; -1 lets the model choose. */
export const makesSeconds = (
  { seconds: range, accepts = range, onlySeconds, choosesSeconds }: ModelFamily,
  seconds: number
): boolean => {
  const [min, max] = accepts
  if (seconds === -1) return choosesSeconds
  return onlySeconds === undefined
    ? seconds >= min && seconds <= max
    : onlySeconds.includes(seconds)
}
