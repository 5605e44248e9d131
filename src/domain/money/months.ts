/** Calendar months of the deployment's zone, written as `2026-10`. */
import { Schema } from "effect"

export const Month = Schema.String.check(
  Schema.isPattern(/^[12]\d{3}-(?:0[1-9]|1[0-2])$/, { expected: "a month such as 2026-10" })
).annotate({ description: "A calendar month in the deployment's time zone, such as 2026-10" })

/** The first day of a month, as `2026-10-01`. */
export const firstDayOf = (month: string): string => `${month}-01`
