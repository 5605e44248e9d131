/** Compares the durations that several parts of a file state for the same video. */

/**
 * The tolerated difference: parts round to different units, the audio may end slightly after the
 * picture, and encoders count one frame more or less.
 */
const TOLERANCE_SECONDS = 1
const TOLERANCE_SHARE = 0.05

/** The tolerated difference from a duration in seconds. */
export const toleranceOf = (seconds: number): number =>
  Math.max(TOLERANCE_SECONDS, seconds * TOLERANCE_SHARE)

/** The longest duration; 0 if there is none. */
export const longestOf = (claims: Iterable<number>): number => Math.max(0, ...claims)

/** Whether all stated durations agree; 0 means that a part states none. */
export const areAlike = (claims: ReadonlyArray<number>): boolean => {
  const statedLengths = claims.filter((seconds) => seconds !== 0)
  const longest = longestOf(statedLengths)
  return statedLengths.every((seconds) => longest - seconds <= toleranceOf(longest))
}
