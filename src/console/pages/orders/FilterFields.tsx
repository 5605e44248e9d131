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
  /** The pattern that the text must match; `hint` describes it. */
  readonly pattern?: RegExp
  readonly hint?: string
  /** Known values, offered as choices. */
  readonly known?: ReadonlyArray<string>
}) => {
  const { t } = useTranslation("orders")
  const kept = filters.value(name)
  const [typed, setTyped] = useState<{ readonly of: string; readonly text: string }>({
    of: kept,
    text: kept
  })
  // The address has changed since the text was typed, for example by a button or by going back.
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
      size="sm"
    />
  )
}
