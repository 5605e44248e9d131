/** The calendar months that caps count in. */
import { DateTime } from "effect"

export interface Month {
  /** Its first day, as `2026-01-01`. */
  readonly first: string
  readonly nextBegins: Date
}

/** The month of a moment in the time zone. */
export const monthAt = (nowMillis: number, timeZone: string): Month => {
  const first = DateTime.makeZonedUnsafe(nowMillis, { timeZone }).pipe(DateTime.startOf("month"))
  return {
    first: DateTime.formatIsoDate(first),
    nextBegins: DateTime.toDateUtc(DateTime.add(first, { months: 1 }))
  }
}
