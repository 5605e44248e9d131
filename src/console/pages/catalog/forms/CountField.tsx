/** A field for a whole number that may be left out. */
import { TextInput } from "@mantine/core"

interface Props {
  readonly label: string
  readonly value: number | undefined
  readonly description?: string
  readonly placeholder?: string
  readonly error: string | undefined
  readonly onChange: (value: number | null) => void
}

export const CountField = ({
  label,
  description = "",
  value,
  placeholder = "",
  error,
  onChange
}: Props) => (
  <TextInput
    label={label}
    description={description}
    placeholder={placeholder}
    inputMode="numeric"
    value={value === undefined ? "" : `${value}`}
    error={error}
    onChange={(event) => {
      const count = Number(event.currentTarget.value.trim())
      onChange(count > 0 ? count : null)
    }}
  />
)
