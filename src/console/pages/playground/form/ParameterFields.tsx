/** The model's further parameters. A field that is not set is left to the vendor. */
import {
  Input,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TextInput
} from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { VendorParameter } from "../../../../domain/catalog/vendorParameters.ts"
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
  "timestamp_granularities" as const
]
const isWorded = (name: string): name is (typeof translatedNames)[number] =>
  translatedNames.some((translatedName) => translatedName === name)

type Value = FormProps["draft"]["parameters"][string]

interface FieldProps {
  readonly label: string
  readonly hint: string
  readonly parameter: VendorParameter
  readonly value: Value | undefined
  /** Sets the value; undefined leaves it to the vendor. */
  readonly setValue: (value: Value | undefined) => void
}

const ParameterField = ({ label, hint, parameter, value, setValue }: FieldProps) => {
  const { t } = useTranslation("playground")
  switch (parameter.type) {
    case "boolean":
      return (
        <Switch
          label={label}
          description={hint}
          checked={(value ?? parameter.default) === true}
          onChange={(event) => setValue(event.currentTarget.checked)}
        />
      )
    case "integer":
    case "number":
      return (
        <NumberInput
          label={label}
          description={hint}
          // The typed value is not clamped: the gateway's error names the accepted values.
          clampBehavior="none"
          allowDecimal={parameter.type === "number"}
          placeholder={t("default")}
          value={typeof value === "number" || typeof value === "string" ? value : ""}
          onChange={(input) => setValue(input === "" ? undefined : input)}
        />
      )
    case "text":
      return (
        <TextInput
          label={label}
          description={hint}
          placeholder={t("default")}
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
          label={label}
          description={hint}
          placeholder={t("default")}
          data={[...parameter.values]}
          clearable
          value={typeof value === "string" ? value : null}
          onChange={(choice) => setValue(choice ?? undefined)}
        />
      )
    case "list": {
      const chosen = Array.isArray(value) ? value : []
      return (
        <MultiSelect
          label={label}
          description={hint}
          placeholder={chosen.length === 0 ? t("default") : ""}
          data={[...parameter.values]}
          value={chosen}
          onChange={(choices) => setValue(choices.length === 0 ? undefined : choices)}
        />
      )
    }
  }
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
            label={isWorded(name) ? t(`parameters.names.${name}`) : name}
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
