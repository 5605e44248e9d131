/** The hours, days or months of a series, those without a line among them, for a plot. */

export type Step = "hour" | "day" | "month"

const HOUR = 3_600_000
/** Of a month about its length: what stands between two known ones is nothing anyway. */
const lengths: Record<Step, number> = { hour: HOUR, day: 24 * HOUR, month: 730.5 * HOUR }
/** A day may be an hour shorter or longer, and a month some days. */
const TOLERANCE = 0.7

/** Starts in milliseconds, ascending: the known ones, and others in the gaps between and around them. */
export const slotsOf = (
  known: ReadonlyArray<number>,
  step: Step,
  range: { readonly from: number; readonly to: number }
): ReadonlyArray<number> => {
  const length = lengths[step]
  const starts = [...new Set(known)].toSorted((a, b) => a - b)
  const [first] = starts
  if (first === undefined) return []
  const slots: Array<number> = []
  for (let at = first - length; at >= range.from; at -= length) slots.unshift(at)
  for (const [index, start] of starts.entries()) {
    slots.push(start)
    const end = starts[index + 1] ?? range.to
    for (let at = start + length; at < end - (1 - TOLERANCE) * length; at += length) slots.push(at)
  }
  return slots
}

/** Midnight of a zone in the east is on the day before by UTC's calendar; no zone is 14 hours away from it in the west. */
const EAST = 14 * HOUR - 1

/** The day that begins at this time somewhere on earth, as `2026-10-01`. */
export const dayBeginning = (start: string): string =>
  new Date(new Date(start).getTime() + EAST).toISOString().slice(0, 10)
