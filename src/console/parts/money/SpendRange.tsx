/** The time range of a series, and its interval. */
import { Group, Select, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { type AddressFilters, optionOf } from "../addressFilters.ts"
import type { Step } from "./spendSlots.ts"

const ranges = ["31d", "48h", "12m", "own"] as const
const intervals = ["day", "hour", "month"] as const
const usualSteps = { "48h": "hour", "31d": "day", "12m": "month" } as const
const usualDays = { "48h": 2, "31d": 31, "12m": 366 } as const
const DAY = 86_400_000
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text)

export interface AskedRange {
  readonly interval: Step
  readonly from?: string
  readonly to?: string
}

/** The time range in the address. A missing first or last day means the gateway's default. */
export const rangeOf = ({ get }: Pick<AddressFilters, "get">): AskedRange => {
  const range = optionOf(get("range"), ranges)
  if (range !== "own") return { interval: usualSteps[range] }
  const [from, to] = [get("from"), get("to")]
  return {
    interval: optionOf(get("interval"), intervals),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {})
  }
}

/** The start and end of a plot. */
export const spanOf = ({
  get
}: Pick<AddressFilters, "get">): { readonly from: number; readonly to: number } => {
  const range = optionOf(get("range"), ranges)
  const { from, to, interval } = rangeOf({ get })
  const end = to === undefined ? Date.now() : Math.min(Date.now(), Date.parse(to) + DAY)
  const days = range === "own" ? { hour: 2, day: 31, month: 366 }[interval] : usualDays[range]
  return { from: from === undefined ? end - days * DAY : Date.parse(from), to: end }
}

export const SpendRange = ({ filters }: { readonly filters: AddressFilters }) => {
  const { t } = useTranslation("money")
  const { get, set } = filters
  const range = optionOf(get("range"), ranges)
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label={t("spend.range")}
        value={range}
        allowDeselect={false}
        data={ranges.map((value) => ({ value, label: t(`spend.ranges.${value}`) }))}
        onChange={(value) => set({ range: value })}
        w={190}
      />
      {range === "own" ? (
        <>
          <TextInput
            type="date"
            label={t("spend.from")}
            value={get("from")}
            onChange={(event) => set({ from: event.currentTarget.value })}
          />
          <TextInput
            type="date"
            label={t("spend.to")}
            value={get("to")}
            onChange={(event) => set({ to: event.currentTarget.value })}
          />
          <Select
            label={t("spend.interval")}
            value={optionOf(get("interval"), intervals)}
            allowDeselect={false}
            data={intervals.map((value) => ({ value, label: t(`spend.steps.${value}`) }))}
            onChange={(value) => set({ interval: value })}
            w={120}
          />
        </>
      ) : null}
    </Group>
  )
}
