/** Filter fields of a list; their values are stored in the address. */
import { Select, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { useCallback, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { useAddressFilters } from "../addressFilters.ts"

const PAUSE_MILLIS = 300

/** One value of the address; empty where the address does not contain it. */
export const useAddressValue = (name: string) => {
  const { get, set } = useAddressFilters()
  const setValue = useCallback((value: string | null) => set({ [name]: value }), [name, set])
  return [get(name), setValue] as const
}

/**
 * An object with the field where its value is not empty, as the queries of the typed client take
 * it.
 */
export const omitEmpty = <Name extends string>(
  name: Name,
  value: string
): { readonly [Key in Name]?: string } => {
  const fields: { [Key in Name]?: string } = {}
  if (value !== "") fields[name] = value
  return fields
}

interface FieldProps {
  readonly name: string
  readonly label: string
}

export const TextFilter = ({ name, label, type }: FieldProps & { readonly type?: "date" }) => {
  const [addressValue, setValue] = useAddressValue(name)
  const [text, setText] = useState(addressValue)
  const setValueDebounced = useDebouncedCallback(setValue, PAUSE_MILLIS)
  // The address can also be changed by a link.
  useEffect(() => setText(addressValue), [addressValue])
  return (
    <TextInput
      label={label}
      size="sm"
      value={text}
      {...(type === undefined ? {} : { type })}
      onChange={(event) => {
        setText(event.currentTarget.value)
        setValueDebounced(event.currentTarget.value.trim())
      }}
      onBlur={() => setValueDebounced.flush()}
    />
  )
}

interface ChoiceProps extends FieldProps {
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>
  /** The label of the choice for no value; by default "any". */
  readonly anyLabel?: string
}

export const ChoiceFilter = ({ name, label, choices, anyLabel }: ChoiceProps) => {
  const { t } = useTranslation()
  const [addressValue, setValue] = useAddressValue(name)
  return (
    <Select
      label={label}
      size="sm"
      data={[{ value: "", label: anyLabel ?? t("any") }, ...choices]}
      value={addressValue}
      onChange={setValue}
      allowDeselect={false}
    />
  )
}

/** Returns the option that equals the text; undefined if none does. */
export const matchOption = <Option extends string>(
  text: string,
  options: ReadonlyArray<Option>
): Option | undefined => options.find((option) => option === text)
