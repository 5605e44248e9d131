/** The fields of a mount: a model, the channel it is called on, and the options of the call. */
import { Autocomplete, Checkbox, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { protocolNamesOf } from "../../../../domain/catalog/CatalogRules.ts"
import { builtInProtocols } from "../../../../domain/catalog/ProtocolTables.ts"
import type { CatalogText, MountText } from "../draft/catalogEntries.ts"
import type { FieldsProps } from "./ChannelFields.tsx"
import { LimitFields } from "./LimitFields.tsx"
import { below } from "./ModelFields.tsx"
import { PriceFields } from "./PriceFields.tsx"

interface Props extends FieldsProps<MountText> {
  readonly document: CatalogText
}

const MOST = 1000

export const MountFields = ({ document, value, onChange, isNew, faultAt }: Props) => {
  const { t } = useTranslation("catalog")
  const model = document.models.find(({ id }) => id === value.model)
  const modality = model?.modality ?? "video"
  return (
    <Stack>
      <Select
        label={t("fields.model")}
        required
        searchable
        openOnFocus={false}
        disabled={!isNew}
        data={document.models.map(({ id }) => id)}
        value={value.model === "" ? null : value.model}
        error={faultAt("model")}
        data-autofocus={isNew}
        onChange={(picked) => onChange({ ...value, model: picked ?? "" })}
      />
      <Select
        label={t("fields.channel")}
        required
        searchable
        openOnFocus={false}
        disabled={!isNew}
        data={document.channels.map(({ id, name }) => ({ value: id, label: `${id} · ${name}` }))}
        value={value.channel === "" ? null : value.channel}
        error={faultAt("channel")}
        onChange={(picked) => onChange({ ...value, channel: picked ?? "" })}
      />
      <TextInput
        label={t("fields.upstream_model")}
        description={t("fields.upstream_modelHint")}
        value={value.upstream_model ?? ""}
        error={faultAt("upstream_model")}
        onChange={(event) =>
          onChange({ ...value, upstream_model: event.currentTarget.value || null })
        }
      />
      <Autocomplete
        label={t("fields.overProtocol")}
        description={t("fields.overProtocolHint", { protocol: model?.protocol ?? "" })}
        data={[...protocolNamesOf(modality, builtInProtocols)]}
        value={value.protocol ?? ""}
        error={faultAt("protocol")}
        onChange={(protocol) => onChange({ ...value, protocol: protocol || null })}
      />
      <Group grow align="flex-start">
        {(["priority", "weight"] as const).map((name) => (
          <NumberInput
            key={name}
            label={t(`fields.${name}`)}
            description={t(`fields.${name}Hint`)}
            min={0}
            max={MOST}
            allowDecimal={false}
            value={value[name] ?? (name === "weight" ? 1 : 0)}
            error={faultAt(name)}
            onChange={(number) => {
              if (typeof number === "number") onChange({ ...value, [name]: number })
            }}
          />
        ))}
      </Group>
      <PriceFields
        label={t("fields.cost")}
        hint={t("fields.costHint")}
        modality={modality}
        value={value.cost}
        onChange={(next) => {
          const { cost: _, ...others } = value
          onChange(next === undefined ? others : { ...others, cost: next })
        }}
        faultAt={below(faultAt, "cost")}
        none={t("prices.noCost")}
      />
      {modality === "video" ? (
        <TextInput
          label={t("fields.bill_unit_price")}
          description={t("fields.bill_unit_priceHint")}
          value={value.bill_unit_price ?? ""}
          error={faultAt("bill_unit_price")}
          onChange={(event) => {
            const { bill_unit_price: _, ...others } = value
            const price = event.currentTarget.value.trim()
            onChange(price === "" ? others : { ...others, bill_unit_price: price })
          }}
        />
      ) : null}
      {modality === "video" ? (
        <LimitFields
          hint={t("limits.ofMount")}
          value={value.limits}
          onChange={(next) => {
            const { limits: _, ...others } = value
            onChange(next === undefined ? others : { ...others, limits: next })
          }}
          faultAt={below(faultAt, "limits")}
        />
      ) : null}
      <Checkbox
        label={t("fields.enabled")}
        checked={value.enabled ?? true}
        onChange={(event) => onChange({ ...value, enabled: event.currentTarget.checked })}
      />
    </Stack>
  )
}
