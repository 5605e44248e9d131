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
  const keep = useCallback((value: string | null) => set({ [name]: value }), [name, set])
  return [get(name), keep] as const
}

/**
 * An object with the field where its value is not empty, as the queries of the typed client take
 * it.
 */
export const omitEmpty = <Name extends string>(
  name: Name,
  value: string
): { readonly [Key in Name]?: string } => {
  const some: { [Key in Name]?: string } = {}
  if (value !== "") some[name] = value
  return some
}

interface FieldProps {
  readonly name: string
  readonly label: string
}

export const TextFilter = ({ name, label, type }: FieldProps & { readonly type?: "date" }) => {
  const [kept, keep] = useAddressValue(name)
  const [text, setText] = useState(kept)
  const keepSoon = useDebouncedCallback(keep, PAUSE_MILLIS)
  // The address can also be changed by a link.
  useEffect(() => setText(kept), [kept])
  return (
    <TextInput
      label={label}
      size="sm"
      value={text}
      {...(type === undefined ? {} : { type })}
      onChange={(event) => {
        setText(event.currentTarget.value)
        keepSoon(event.currentTarget.value.trim())
      }}
      onBlur={() => keepSoon.flush()}
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
  const [kept, keep] = useAddressValue(name)
  return (
    <Select
      label={label}
      size="sm"
      data={[{ value: "", label: anyLabel ?? t("any") }, ...choices]}
      value={kept}
      onChange={keep}
      allowDeselect={false}
    />
  )
}

/** Returns the option that equals the text; undefined if none does. */
export const oneOfWords = <Word extends string>(
  text: string,
  words: ReadonlyArray<Word>
): Word | undefined => words.find((word) => word === text)
