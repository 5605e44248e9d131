/** Filter fields of a list; their values are stored in the address. */
import { Select, SimpleGrid, TextInput } from "@mantine/core"
import { Struct } from "effect"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import type { FilterName, OrderFilters } from "./orderFilters.ts"

/** Lists up to this length are seen at a glance. */
const MAX_UNSEARCHED = 6

interface FieldProps {
  readonly filters: OrderFilters
  readonly name: FilterName
  readonly label: string
}

/** A responsive grid of fields. */
export const FieldGrid = ({
  children,
  columns = 6
}: {
  readonly children: ReactNode
  /** The number of fields in a row of a wide screen. */
  readonly columns?: number
}) => (
  <SimpleGrid cols={{ base: 2, sm: 3, lg: columns }} spacing="sm" verticalSpacing="xs">
    {children}
  </SimpleGrid>
)

/** A field with a list of choices. A value that is not listed any more stays selectable. */
export const ChoiceField = ({
  filters,
  name,
  label,
  data
}: FieldProps & { readonly data: ReadonlyArray<{ value: string; label: string }> }) => {
  const { t } = useTranslation("orders")
  const value = filters.value(name)
  const isListed = value === "" || data.some((choice) => choice.value === value)
  return (
    <Select
      label={label}
      placeholder={t("filters.any")}
      data={isListed ? data : [{ value, label: value }, ...data]}
      value={value === "" ? null : value}
      onChange={(chosen) => filters.change({ [name]: chosen })}
      clearable
      searchable={data.length > MAX_UNSEARCHED}
      nothingFoundMessage={t("filters.nobody")}
      size="sm"
    />
  )
}

const isoDay = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-")

const WEEK = 7
const MONTH = 30

/** The first and the last day of each period; an empty last day stands for today. */
const periodsOf = (now: Date) => {
  const day = (year: number, month: number, date: number) => isoDay(new Date(year, month, date))
  const [year, month, date] = [now.getFullYear(), now.getMonth(), now.getDate()]
  return {
    today: { from: isoDay(now), to: "" },
    week: { from: day(year, month, date + 1 - WEEK), to: "" },
    days30: { from: day(year, month, date + 1 - MONTH), to: "" },
    month: { from: day(year, month, 1), to: "" },
    lastMonth: { from: day(year, month - 1, 1), to: day(year, month, 0) }
  }
}

/** A choice of usual periods, which sets both days. */
export const PeriodField = ({ filters }: Pick<FieldProps, "filters">) => {
  const { t } = useTranslation("orders")
  const periods = periodsOf(new Date())
  const names = Struct.keys(periods)
  const current = names.find(
    (name) =>
      filters.value("from") === periods[name].from && filters.value("to") === periods[name].to
  )
  return (
    <Select
      label={t("filters.period")}
      placeholder={t("filters.any")}
      data={names.map((name) => ({ value: name, label: t(`filters.periods.${name}`) }))}
      value={current ?? null}
      onChange={(chosen) => {
        const name = names.find((one) => one === chosen)
        filters.change(name === undefined ? { from: null, to: null } : periods[name])
      }}
      clearable
      size="sm"
    />
  )
}

export const DayField = ({ filters, name, label }: FieldProps) => (
  <TextInput
    type="date"
    label={label}
    value={filters.value(name)}
    onChange={(event) => filters.change({ [name]: event.currentTarget.value })}
    size="sm"
  />
)

/** A text field whose value is applied with the enter key or when the field loses the focus. */
export const TextField = ({
  filters,
  name,
  label,
  placeholder,
  pattern,
  hint
}: FieldProps & {
  readonly placeholder?: string
  /** The pattern that the text must match; `hint` describes it. */
  readonly pattern?: RegExp
  readonly hint?: string
}) => {
  const { t } = useTranslation("orders")
  const filterValue = filters.value(name)
  const [input, setInput] = useState<{ readonly of: string; readonly text: string }>({
    of: filterValue,
    text: filterValue
  })
  // The address has changed since the text was typed, for example by a button or by going back.
  const text = input.of === filterValue ? input.text : filterValue
  const isWrong = text !== "" && pattern !== undefined && !pattern.test(text)
  const applyFilter = (value: string) => {
    const trimmed = value.trim()
    if (
      trimmed === filterValue ||
      (trimmed !== "" && pattern !== undefined && !pattern.test(trimmed))
    )
      return
    filters.change({ [name]: trimmed })
  }
  return (
    <TextInput
      label={label}
      placeholder={placeholder ?? t("filters.any")}
      value={text}
      onChange={(event) => setInput({ of: filterValue, text: event.currentTarget.value })}
      onBlur={() => applyFilter(text)}
      onKeyDown={(event) => {
        if (event.key === "Enter") applyFilter(text)
      }}
      error={isWrong && input.of === filterValue && input.text !== filterValue ? hint : undefined}
      size="sm"
    />
  )
}
