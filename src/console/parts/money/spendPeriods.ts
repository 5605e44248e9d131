/** The time range of a spend report in the page's address, and the range of the same length before it. */
import { type AddressFilters, optionOf } from "../addressFilters.ts"
import type { Step } from "./spendSlots.ts"

export const ranges = ["31d", "7d", "48h", "12m", "own"] as const
export const intervals = ["day", "hour", "month"] as const

const HOUR = 3_600_000
const DAY = 24 * HOUR
const DAY_LENGTH = "2026-10-01".length
const usualIntervals = { "48h": "hour", "7d": "day", "31d": "day", "12m": "month" } as const
const usualHours = { "48h": 48, "7d": 7 * 24, "31d": 31 * 24 } as const
/** The length of a custom range whose first day is missing, in days. */
const usualDays: Record<Step, number> = { hour: 2, day: 31, month: 365 }

export interface SpendPeriod {
  readonly query: { readonly from: string; readonly to: string }
  readonly from: number
  readonly to: number
  /** Whether an hour, day or month that begins at this time is in the period. */
  readonly contains: (start: number) => boolean
}

export interface SpendPeriods {
  readonly interval: Step
  readonly current: SpendPeriod
  readonly previous: SpendPeriod
}

const iso = (time: number): string => new Date(time).toISOString()

/**
 * The hours, days or months that begin after `from`, until `to`. The gateway also answers with the
 * one that contains `from`, which the period excludes, so that two periods share none.
 */
const periodOfTimes = (from: number, to: number): SpendPeriod => ({
  query: { from: iso(from), to: iso(to + 1) },
  from,
  to,
  contains: (start) => start > from && start <= to
})

const monthsBefore = (time: number, months: number): number => {
  const date = new Date(time)
  return date.setUTCMonth(date.getUTCMonth() - months)
}

const dayOf = (time: number): string => iso(time).slice(0, DAY_LENGTH)

/** Whole days of the gateway's time zone, the last one included. */
const periodOfDays = (first: number, last: number): SpendPeriod => ({
  query: { from: dayOf(first), to: dayOf(last) },
  from: first,
  to: Math.min(Date.now(), last + DAY),
  contains: () => true
})

const customPeriods = (get: AddressFilters["get"], now: number): SpendPeriods => {
  const interval = optionOf(get("interval"), intervals)
  const dayIn = (name: string): number | null =>
    /^\d{4}-\d\d-\d\d$/.test(get(name)) ? Date.parse(get(name)) : null
  const last = dayIn("to") ?? Date.parse(dayOf(now))
  const day = Math.min(dayIn("from") ?? last - usualDays[interval] * DAY, last)
  if (interval !== "month") {
    return {
      interval,
      current: periodOfDays(day, last),
      previous: periodOfDays(day - (last + DAY - day), day - DAY)
    }
  }
  // Months are whole, also the first one.
  const first = Date.parse(`${dayOf(day).slice(0, -2)}01`)
  const [start, end] = [new Date(first), new Date(last)]
  const months =
    (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth()
  return {
    interval,
    current: periodOfDays(first, last),
    previous: periodOfDays(monthsBefore(first, months + 1), first - DAY)
  }
}

export const spendPeriodsOf = (get: AddressFilters["get"], now: number): SpendPeriods => {
  const range = optionOf(get("range"), ranges)
  if (range === "own") return customPeriods(get, now)
  const before = (time: number): number =>
    range === "12m" ? monthsBefore(time, 12) : time - usualHours[range] * HOUR
  const from = before(now)
  return {
    interval: usualIntervals[range],
    current: periodOfTimes(from, now),
    previous: periodOfTimes(before(from), from)
  }
}
