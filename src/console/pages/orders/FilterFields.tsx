/** Filter fields of a list; their values are stored in the address. */
import { Autocomplete, Select, SimpleGrid, TextInput } from "@mantine/core"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import type { FilterName, OrderFilters } from "./orderFilters.ts"

interface FieldProps {
  readonly filters: OrderFilters
  readonly name: FilterName
  readonly label: string
}

/** A responsive grid of fields. */
export const FieldGrid = ({ children }: { readonly children: ReactNode }) => (
  <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm" verticalSpacing="xs">
    {children}
  </SimpleGrid>
)

/** A field with a fixed set of choices. */
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
  hint,
  suggestions = []
}: FieldProps & {
  readonly placeholder?: string
  /** The pattern that the text must match; `hint` describes it. */
  readonly pattern?: RegExp
  readonly hint?: string
  /** Known values, offered as choices. */
  readonly suggestions?: ReadonlyArray<string>
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
    <Autocomplete
      label={label}
      placeholder={placeholder ?? t("filters.any")}
      data={[...suggestions]}
      value={text}
      onChange={(value) => setInput({ of: filterValue, text: value })}
      onOptionSubmit={applyFilter}
      onBlur={() => applyFilter(text)}
      onKeyDown={(event) => {
        if (event.key === "Enter") applyFilter(text)
      }}
      error={isWrong && input.of === filterValue && input.text !== filterValue ? hint : undefined}
      size="sm"
    />
  )
}
