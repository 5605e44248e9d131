/** The fields of a model. */
import { Autocomplete, Select, Stack, TagsInput, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { protocolNamesOf } from "../../../../domain/catalog/CatalogRules.ts"
import { Modality } from "../../../../domain/catalog/Modality.ts"
import { builtInProtocols } from "../../../../domain/catalog/ProtocolTables.ts"
import type { ModelText, PricesText } from "../draft/catalogEntries.ts"
import type { FieldsProps } from "./ChannelFields.tsx"
import { LimitFields } from "./LimitFields.tsx"
import { PriceFields } from "./PriceFields.tsx"

const FORMS = ["text", "image", "video", "audio"]

/** `faultAt` for the paths below one field. */
export const below =
  (faultAt: FieldsProps<unknown>["faultAt"], field: string) =>
  (path: string): string | undefined =>
    faultAt(path === "" ? field : `${field}.${path}`)

/** The model with these as its only voices, or with any voice where there are none. */
const withVoices = (
  { limits = {}, ...model }: ModelText,
  voices: ReadonlyArray<string>
): ModelText => {
  const { voices: _, ...others } = limits
  const next = voices.length === 0 ? others : { ...others, voices }
  return Object.keys(next).length === 0 ? model : { ...model, limits: next }
}

export const ModelFields = ({ value, onChange, isNew, faultAt }: FieldsProps<ModelText>) => {
  const { t } = useTranslation("catalog")
  const priced = (next: PricesText | undefined): void => {
    const { prices: _, ...others } = value
    onChange(next === undefined ? others : { ...others, prices: next })
  }
  const { aliases = [] } = value
  const renamed = (names: Array<string>): void => {
    const { aliases: _, ...others } = value
    onChange(names.length === 0 ? others : { ...others, aliases: names })
  }
  return (
    <Stack>
      <TextInput
        label={t("fields.id")}
        description={t("fields.idHint")}
        required
        readOnly={!isNew}
        value={value.id}
        error={faultAt("id")}
        data-autofocus={isNew}
        onChange={(event) => onChange({ ...value, id: event.currentTarget.value })}
      />
      <TagsInput
        label={t("fields.aliases")}
        description={t("fields.aliasesHint")}
        value={[...aliases]}
        error={aliases
          .map((_, position) => faultAt(`aliases[${position}]`))
          .find((fault) => fault !== undefined)}
        onChange={renamed}
      />
      <Select
        label={t("fields.modality")}
        data={[...Modality.literals]}
        value={value.modality}
        error={faultAt("modality")}
        allowDeselect={false}
        onChange={(picked) => {
          const modality = Modality.literals.find((one) => one === picked)
          if (modality !== undefined) onChange({ ...value, modality })
        }}
      />
      <Autocomplete
        label={t("fields.protocol")}
        description={t("fields.protocolHint")}
        required
        data={[...protocolNamesOf(value.modality, builtInProtocols)]}
        value={value.protocol}
        error={faultAt("protocol")}
        onChange={(protocol) => onChange({ ...value, protocol })}
      />
      <PriceFields
        label={t("fields.prices")}
        modality={value.modality}
        value={value.prices}
        onChange={priced}
        faultAt={below(faultAt, "prices")}
        none={t("prices.none")}
      />
      {value.modality === "video" ? (
        <LimitFields
          hint={t("limits.ofModel")}
          value={value.limits}
          onChange={(next) => {
            const { limits: _, ...others } = value
            onChange(next === undefined ? others : { ...others, limits: next })
          }}
          faultAt={below(faultAt, "limits")}
        />
      ) : null}
      {value.modality === "tts" ? (
        <TagsInput
          label={t("limits.voices")}
          description={t("limits.voicesHint")}
          acceptValueOnBlur
          value={[...(value.limits?.voices ?? [])]}
          error={faultAt("limits.voices")}
          onChange={(voices) => onChange(withVoices(value, voices))}
        />
      ) : null}
      <TextInput
        label={t("fields.owned_by")}
        value={value.owned_by ?? ""}
        error={faultAt("owned_by")}
        onChange={(event) => onChange({ ...value, owned_by: event.currentTarget.value })}
      />
      <TagsInput
        label={t("fields.input_forms")}
        description={t("fields.input_formsHint")}
        data={FORMS}
        value={[...(value.input_forms ?? [])]}
        error={faultAt("input_forms")}
        onChange={(input_forms) => onChange({ ...value, input_forms })}
      />
    </Stack>
  )
}
