/** The open orders by age. */
import { Result } from "effect"
import { formatNano, parseNano } from "../../../domain/money/Money.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The age groups; each begins at the end of the previous one, and the last has no end. */
const ageSpans = [
  { name: "minute", until: MINUTE },
  { name: "tenMinutes", until: 10 * MINUTE },
  { name: "hour", until: HOUR },
  { name: "sixHours", until: 6 * HOUR },
  { name: "day", until: DAY },
  { name: "older", until: Number.POSITIVE_INFINITY }
] as const

export interface AgeLine {
  readonly name: (typeof ageSpans)[number]["name"]
  readonly count: number
  /** The exact sum of the holds in this group. */
  readonly held: string
}

interface OpenOrder {
  readonly created_at: string
  readonly hold: string
}

export const agesOf = (orders: ReadonlyArray<OpenOrder>, now: number): ReadonlyArray<AgeLine> => {
  const ages = orders.map(({ created_at, hold }) => ({
    age: now - Date.parse(created_at),
    nano: Result.getOrElse(parseNano(hold), () => 0n)
  }))
  return ageSpans.map(({ name, until }, at) => {
    const from = ageSpans[at - 1]?.until ?? Number.NEGATIVE_INFINITY
    const matches = ages.filter(({ age }) => age >= from && age < until)
    return {
      name,
      count: matches.length,
      held: formatNano(matches.reduce((sum, { nano }) => sum + nano, 0n))
    }
  })
}
