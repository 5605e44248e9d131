/** Fields by which a list is filtered; what is in them stands in the address. */
import { Select, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { useCallback, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { useAddressFilters } from "../addressFilters.ts"

const PAUSE_MILLIS = 300

/** One value of the address; empty where it is not there. */
export const useAddressValue = (name: string) => {
  const { get, set } = useAddressFilters()
  const keep = useCallback((value: string | null) => set({ [name]: value }), [name, set])
  return [get(name), keep] as const
}

/** Only what was given, as the typed client's queries take it. */
export const given = <Name extends string>(
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
  // The address may be changed by a link, too.
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
    />
  )
}

interface ChoiceProps extends FieldProps {
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>
  /** What nothing in the address stands for; any of them where it is left out. */
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

/** The one of these words that a text is. */
export const oneOfWords = <Word extends string>(
  text: string,
  words: ReadonlyArray<Word>
): Word | undefined => words.find((word) => word === text)
