/** Fields of a list's filters, each of which stands in the address. */
import { Autocomplete, Select, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { AddressFilters, FilterName } from "./addressFilters.ts"

interface FieldProps {
  readonly filters: AddressFilters
  readonly name: FilterName
  readonly label: string
}

const WIDTH = 170

/** One of a few. */
export const ChoiceField = ({
  filters,
  name,
  label,
  data
}: FieldProps & { readonly data: ReadonlyArray<{ value: string; label: string }> }) => {
  const { t } = useTranslation("orders")
  return (
    <Select
      label={label}
      placeholder={t("filters.any")}
      data={data}
      value={filters.value(name) === "" ? null : filters.value(name)}
      onChange={(value) => filters.change({ [name]: value })}
      clearable
      w={WIDTH}
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
    w={WIDTH}
    size="sm"
  />
)

/** A text, taken when it is finished: by the enter key or by leaving the field. */
export const WordField = ({
  filters,
  name,
  label,
  placeholder,
  pattern,
  hint,
  known = []
}: FieldProps & {
  readonly placeholder?: string
  /** What it has to look like; `hint` says it. */
  readonly pattern?: RegExp
  readonly hint?: string
  /** Values that there are, to choose from. */
  readonly known?: ReadonlyArray<string>
}) => {
  const { t } = useTranslation("orders")
  const kept = filters.value(name)
  const [typed, setTyped] = useState<{ readonly of: string; readonly text: string }>({
    of: kept,
    text: kept
  })
  // What the address says has changed since: by a button, or by going back.
  const text = typed.of === kept ? typed.text : kept
  const isWrong = text !== "" && pattern !== undefined && !pattern.test(text)
  const take = (value: string) => {
    const next = value.trim()
    if (next === kept || (next !== "" && pattern !== undefined && !pattern.test(next))) return
    filters.change({ [name]: next })
  }
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder ?? t("filters.any")}
      data={[...known]}
      value={text}
      onChange={(value) => setTyped({ of: kept, text: value })}
      onOptionSubmit={take}
      onBlur={() => take(text)}
      onKeyDown={(event) => {
        if (event.key === "Enter") take(text)
      }}
      error={isWrong && typed.of === kept && typed.text !== kept ? hint : undefined}
      w={WIDTH}
      size="sm"
    />
  )
}
