/** Parses days and times of query parameters, in the deployment's time zone. */
import { DateTime, Effect, Option } from "effect"
import { InvalidRequest } from "../../../domain/Errors.ts"

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text)
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)

/** Parses a time or a day. A day means its first moment in the time zone, `laterDays` later. */
export const parseTime = Effect.fnUntraced(function* (
  param: string,
  text: string,
  options: { readonly timeZone: string; readonly laterDays: number }
) {
  const { timeZone, laterDays } = options
  const dateTime = isDay(text)
    ? DateTime.makeZoned(text, { timeZone, adjustForTimeZone: true }).pipe(
        Option.filter((day) => DateTime.formatIsoDate(day) === text),
        Option.map((day) => DateTime.toDateUtc(DateTime.add(day, { days: laterDays })))
      )
    : isTime(text)
      ? Option.map(DateTime.make(text), DateTime.toDateUtc)
      : Option.none()
  return Option.isSome(dateTime)
    ? dateTime.value
    : yield* new InvalidRequest({
        message: `${param}: Expected a day such as 2027-01-31 or an ISO 8601 time such as 2027-01-31T12:00:00Z`,
        param
      })
})

/** The time range of a list. The end is exclusive; null is unbounded. */
export const timeRange = Effect.fnUntraced(function* (
  query: { readonly from?: string; readonly to?: string },
  timeZone: string
) {
  const from =
    query.from === undefined
      ? null
      : yield* parseTime("from", query.from, { timeZone, laterDays: 0 })
  const to =
    query.to === undefined ? null : yield* parseTime("to", query.to, { timeZone, laterDays: 1 })
  if (from !== null && to !== null && from >= to) {
    return yield* new InvalidRequest({ message: "to: Expected to be after from", param: "to" })
  }
  return { from, to }
})
