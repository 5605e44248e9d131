/** The hours, days or months of a plotted series, including those without data. */

export type Step = "hour" | "day" | "month"

const HOUR = 3_600_000
/** The lengths of steps; of a month the average, which is exact enough for months without data. */
const lengths: Record<Step, number> = { hour: HOUR, day: 24 * HOUR, month: 730.5 * HOUR }
/**
 * The tolerance for the length of a step: a day may be an hour shorter or longer, a month some
 * days.
 */
const TOLERANCE = 0.7

/**
 * The starts of all steps in milliseconds, ascending: those with data, and those in the gaps
 * between and around them.
 */
export const slotsOf = (
  knownSlots: ReadonlyArray<number>,
  step: Step,
  range: { readonly from: number; readonly to: number }
): ReadonlyArray<number> => {
  const length = lengths[step]
  const starts = [...new Set(knownSlots)].toSorted((a, b) => a - b)
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

/**
 * The offset after which the UTC date of a local midnight is the local date: in a zone east of UTC,
 * midnight is on the previous UTC day. It fits the zones from UTC-10 to UTC+13. In UTC-11 the date is
 * a day late and in UTC+14 a day early, as the start of a slot does not contain its zone.
 */
const EAST = 14 * HOUR - 1

/** The day that begins at this time in its time zone, such as `2026-10-01`. */
export const dayBeginning = (start: string): string =>
  new Date(new Date(start).getTime() + EAST).toISOString().slice(0, 10)

/** The text of an hour, day or month: short at an axis, in full in a tooltip. */
export const slotText = (
  start: number,
  step: Step,
  { language, isFull }: { readonly language: string; readonly isFull: boolean }
): string => {
  if (step === "hour") {
    return new Date(start).toLocaleString(
      language,
      isFull
        ? { dateStyle: "medium", timeStyle: "short" }
        : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }
    )
  }
  const year = isFull ? ({ year: "numeric" } as const) : {}
  const day = new Date(dayBeginning(new Date(start).toISOString()))
  return day.toLocaleString(
    language,
    step === "day"
      ? { ...year, month: "short", day: "numeric", timeZone: "UTC" }
      : { year: "numeric", month: "short", timeZone: "UTC" }
  )
}
