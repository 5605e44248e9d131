import { Effect } from "effect"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { momentOf } from "../money/seriesAnswers.ts"

/** From when, and before when, a list is asked for; null is any time. */
export const timeRange = Effect.fnUntraced(function* (
  query: { readonly from?: string; readonly to?: string },
  timeZone: string
) {
  const from =
    query.from === undefined
      ? null
      : yield* momentOf("from", query.from, { timeZone, laterDays: 0 })
  const to =
    query.to === undefined ? null : yield* momentOf("to", query.to, { timeZone, laterDays: 1 })
  if (from !== null && to !== null && from >= to) {
    return yield* new InvalidRequest({ message: "to: Expected to be after from", param: "to" })
  }
  return { from, to }
})
