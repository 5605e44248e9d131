/** The model's further parameters. A field that is not set is left to the vendor. */
import {
  Input,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  TextInput
} from "@mantine/core"
import { useTranslation } from "react-i18next"
import {
  parameterFaults,
  type VendorParameter
} from "../../../../domain/catalog/vendorParameters.ts"
import { parametersOf } from "./draft.ts"
import { type FormProps, fieldAttribute } from "./faults.ts"

/**
 * The parameters for which the console has its own texts. For others, the gateway's descriptions
 * are shown.
 */
const translatedNames = [
  ...(["seed", "watermark", "camera_fixed", "prompt_extend"] as const),
  ...(["multi_shot", "shot_type", "negative_prompt"] as const),
  ...(["quality", "background", "output_format", "output_compression"] as const),
  ...(["moderation", "input_fidelity", "temperature", "top_p"] as const),
  ...(["timestamp_granularities", "return_last_frame"] as const)
]
const isWorded = (name: string): name is (typeof translatedNames)[number] =>
  translatedNames.some((translatedName) => translatedName === name)

type Value = FormProps["draft"]["parameters"][string]

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly parameter: VendorParameter
  readonly value: Value | undefined
  /** Sets the value; undefined leaves it to the vendor. */
  readonly setValue: (value: Value | undefined) => void
}

/** The value that holds where the field is left out, as a placeholder. */
const useDefaultText = ({ default: usual }: VendorParameter): string => {
  const { t } = useTranslation("playground")
  const text = [usual ?? ""].flat().join(", ")
  return text === "" ? t("default") : t("defaultOf", { value: text })
}

const ParameterField = ({ name, label, hint, parameter, value, setValue }: FieldProps) => {
  const defaultText = useDefaultText(parameter)
  const [fault] =
    value === undefined ? [] : parameterFaults({ [name]: value }, { [name]: parameter })
  const shared = {
    label,
    description: hint,
    required: parameter.required === true,
    error: fault?.message
  }
  switch (parameter.type) {
    case "boolean":
      return (
        <Switch
          {...shared}
          checked={(value ?? parameter.default) === true}
          onChange={(event) => setValue(event.currentTarget.checked)}
        />
      )
    case "integer":
      return parameter.values === undefined ? (
        <NumberField
          {...shared}
          parameter={parameter}
          value={value}
          setValue={setValue}
          defaultText={defaultText}
        />
      ) : (
        <Select
          {...shared}
          placeholder={defaultText}
          data={parameter.values.map(String)}
          clearable
          value={typeof value === "number" ? String(value) : null}
          onChange={(choice) => setValue(choice === null ? undefined : Number(choice))}
        />
      )
    case "number":
      return (
        <NumberField
          {...shared}
          parameter={parameter}
          value={value}
          setValue={setValue}
          defaultText={defaultText}
        />
      )
    case "text":
      return (
        <TextInput
          {...shared}
          placeholder={defaultText}
          {...(parameter.max_length === undefined ? {} : { maxLength: parameter.max_length })}
          value={typeof value === "string" ? value : ""}
          onChange={({ currentTarget }) =>
            setValue(currentTarget.value === "" ? undefined : currentTarget.value)
          }
        />
      )
    case "choice":
      return (
        <Select
          {...shared}
          placeholder={defaultText}
          data={[...parameter.values]}
          clearable
          value={typeof value === "string" ? value : null}
          onChange={(choice) => setValue(choice ?? undefined)}
        />
      )
    case "list":
      return (
        <ListField
          {...shared}
          parameter={parameter}
          value={value}
          setValue={setValue}
          defaultText={defaultText}
        />
      )
  }
}

interface InputProps<T extends VendorParameter["type"]> {
  readonly label: string
  readonly description: string
  readonly required: boolean
  readonly error: string | undefined
  readonly parameter: Extract<VendorParameter, { readonly type: T }>
  readonly value: Value | undefined
  readonly setValue: FieldProps["setValue"]
  readonly defaultText: string
}

const NumberField = ({
  parameter,
  value,
  setValue,
  defaultText,
  ...shared
}: InputProps<"integer" | "number">) => (
  <NumberInput
    {...shared}
    // The typed value is not clamped: the error names the accepted values.
    clampBehavior="none"
    allowDecimal={parameter.type === "number"}
    min={parameter.minimum}
    max={parameter.maximum}
    placeholder={defaultText}
    value={typeof value === "number" || typeof value === "string" ? value : ""}
    onChange={(input) => setValue(input === "" ? undefined : input)}
  />
)

/** A list of the values that the parameter names, or of any texts. */
const ListField = ({
  parameter: { values, max_items: most },
  value,
  setValue,
  defaultText,
  ...shared
}: InputProps<"list">) => {
  const chosen = Array.isArray(value) ? value : []
  const list = {
    ...shared,
    placeholder: chosen.length === 0 ? defaultText : "",
    ...(most === undefined ? {} : { maxTags: most, maxValues: most }),
    value: chosen,
    onChange: (entries: Array<string>) => setValue(entries.length === 0 ? undefined : entries)
  }
  return values === undefined ? (
    <TagsInput {...list} />
  ) : (
    <MultiSelect {...list} data={[...values]} />
  )
}

export const ParameterFields = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const fields = Object.entries(parametersOf(model))
  if (fields.length === 0) return null
  const error = errorOf("parameters")
  const setValue = (name: string, value: Value | undefined) => {
    const { [name]: _, ...otherParameters } = draft.parameters
    change({
      parameters: value === undefined ? otherParameters : { ...otherParameters, [name]: value }
    })
  }
  return (
    <Stack
      gap={6}
      role="group"
      aria-label={t("parameters.title")}
      tabIndex={-1}
      {...fieldAttribute("parameters")}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {fields.map(([name, parameter]) => (
          <ParameterField
            key={name}
            name={name}
            label={isWorded(name) ? t(`parameters.names.${name}`) : (parameter.title ?? name)}
            hint={isWorded(name) ? t(`parameters.hints.${name}`) : parameter.description}
            parameter={parameter}
            value={draft.parameters[name]}
            setValue={(value) => setValue(name, value)}
          />
        ))}
      </SimpleGrid>
      {error === false ? null : <Input.Error>{error}</Input.Error>}
    </Stack>
  )
}
