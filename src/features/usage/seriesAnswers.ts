/** Reads the series of usage that a query describes, and returns its lines. */
import { Clock, Effect } from "effect"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import type { SumGroup, SumStep } from "../../domain/money/usageSums.ts"
import { parseTime } from "../../http/handlers/money/times.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type SumFilter, type UsageSum, UsageSums } from "./UsageSums.ts"

/** The maximum number of lines of a series, which the database reads in a few milliseconds. */
const MAX_LINES = 10_000

const DAY_MILLIS = 86_400_000
/** The number of days of a series without `from`. */
const defaultDays: Record<SumStep, number> = { hour: 2, day: 31, month: 366 }

export interface SeriesQuery<By extends SumGroup> {
  readonly from?: string
  readonly to?: string
  readonly interval: SumStep
  readonly by?: By
  readonly tag?: string
}

const tagOf = (tag: string | undefined): SumFilter["tag"] => {
  if (tag === undefined) return null
  const separator = tag.indexOf("=")
  return separator < 0
    ? { name: tag, value: null }
    : { name: tag.slice(0, separator), value: tag.slice(separator + 1) }
}

/** The charged units; null where there are several kinds of units. */
const unitsOf = ({ tokens, seconds, images, clips, characters, searches }: UsageSum) => {
  const charged = [
    { unit: "token" as const, units: Number(tokens) },
    { unit: "second" as const, units: Number(seconds) },
    { unit: "image" as const, units: Number(images) },
    { unit: "clip" as const, units: Number(clips) },
    { unit: "character" as const, units: Number(characters) },
    { unit: "search" as const, units: Number(searches) }
  ].filter(({ units }) => units > 0)
  const [first] = charged
  if (first === undefined) return { unit: null, units: 0 }
  return charged.length === 1 ? first : { unit: null, units: null }
}

/** The amounts of a sum; the members' API leaves out costs and margin. */
export const amountsView = ({
  chargeNano,
  returnedNano,
  costNano,
  withoutCost,
  reportedCostNano,
  withoutReportedCost
}: UsageSum) => ({
  charge: formatNano(chargeNano),
  returned: formatNano(returnedNano),
  cost: formatNano(costNano),
  without_cost: withoutCost,
  reported_cost: formatNano(reportedCostNano),
  without_reported_cost: withoutReportedCost,
  margin: withoutCost > 0 ? null : formatNano(chargeNano - returnedNano - costNano)
})

export const makeReadSeries = Effect.gen(function* () {
  const sums = yield* UsageSums
  const { currency, timeZone } = yield* Settings

  /** Reads the series; `owner` limits it to the orders of a member or a key, for example. */
  return Effect.fnUntraced(function* <By extends SumGroup>(
    { by, interval, ...query }: SeriesQuery<By>,
    owner: Omit<SumFilter, "tag">
  ) {
    const tag = tagOf(query.tag)
    if (by === "tag" && tag === null) {
      return yield* new InvalidRequest({
        message: "tag: Expected the name of the tag whose texts the lines are of",
        param: "tag"
      })
    }
    const now = yield* Clock.currentTimeMillis
    const to =
      query.to === undefined
        ? new Date(now + 1)
        : yield* parseTime("to", query.to, { timeZone, laterDays: 1 })
    const from =
      query.from === undefined
        ? new Date(to.getTime() - defaultDays[interval] * DAY_MILLIS)
        : yield* parseTime("from", query.from, { timeZone, laterDays: 0 })
    if (from >= to) {
      return yield* new InvalidRequest({ message: "to: Expected to be after from", param: "to" })
    }
    const lines = yield* sums.read({
      step: interval,
      by: by ?? null,
      from,
      to,
      afterName: null,
      limit: MAX_LINES + 1,
      filter: { ...owner, tag }
    })
    if (lines.length > MAX_LINES) {
      return yield* new InvalidRequest({
        message: `interval: Expected a longer one, or a shorter time: these are more than ${MAX_LINES} lines`,
        param: "interval"
      })
    }
    return {
      object: "list" as const,
      data: lines.map((line) => ({
        start: line.start.toISOString(),
        ...(by === undefined ? {} : { [by]: line.name }),
        count: line.count,
        failed: line.failed,
        ...amountsView(line),
        ...unitsOf(line),
        currency
      }))
    }
  })
})
