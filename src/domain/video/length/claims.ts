/** Lengths that several parts of a file give for the same film. */

/**
 * Parts round to units of their own, a sound may end a little after its picture, and encoders count a
 * frame more or less.
 */
const TOLERANCE_SECONDS = 1
const TOLERANCE_SHARE = 0.05

/** By how much others may differ from a length of so many seconds. */
export const toleranceOf = (seconds: number): number =>
  Math.max(TOLERANCE_SECONDS, seconds * TOLERANCE_SHARE)

/** The longest of them; 0 where there is none. */
export const longestOf = (claims: Iterable<number>): number => Math.max(0, ...claims)

/** Whether those that give a length at all, which is more than 0, give the same one. */
export const areAlike = (claims: ReadonlyArray<number>): boolean => {
  const statedLengths = claims.filter((seconds) => seconds !== 0)
  const longest = longestOf(statedLengths)
  return statedLengths.every((seconds) => longest - seconds <= toleranceOf(longest))
}
