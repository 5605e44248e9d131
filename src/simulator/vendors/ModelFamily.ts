/** What the models of a vendor take, as the vendor serves them: a row for each generation. */

/** What a medium is for. */
export type MediaRole =
  | "first_frame"
  | "last_frame"
  | "reference_image"
  | "reference_video"
  | "reference_audio"

/** The most of each medium that one order may have; a role left out has no place. */
type MediaLimits = Readonly<Partial<Record<MediaRole, number>>>

export interface ModelFamily<Mode extends string = string> {
  readonly name: string
  readonly ids: RegExp
  /** The paths or shapes of an order, each with the media that it takes. */
  readonly modes: Readonly<Partial<Record<Mode, MediaLimits>>>
  /** Whole seconds. */
  readonly seconds: readonly [least: number, most: number]
  /** Where not every length between is made. */
  readonly onlySeconds?: ReadonlyArray<number>
  /** Whether -1 leaves the length to the model. */
  readonly choosesSeconds: boolean
  readonly resolutions: ReadonlyArray<string>
  /** What else may be set, by the vendor's names. */
  readonly parameters: ReadonlyArray<string>
}

/** The family of a model; the fallback is for ids that no row knows. */
export const familyOf = <Family extends ModelFamily>(
  families: ReadonlyArray<Family>,
  model: string,
  fallback: Family
): Family => families.find(({ ids }) => ids.test(model)) ?? fallback

/** Whether a family makes videos of that length; -1 is its own choice. */
export const makesSeconds = (
  { seconds: [least, most], onlySeconds, choosesSeconds }: ModelFamily,
  seconds: number
): boolean => {
  if (seconds === -1) return choosesSeconds
  return onlySeconds === undefined
    ? seconds >= least && seconds <= most
    : onlySeconds.includes(seconds)
}
