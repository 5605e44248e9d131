/** A dialog for a price list: a factor of all prices, or a price table for each of some models. */
import { Alert, Button, Group, List, Modal, Select, Stack, Text, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiMutation, useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { useRestoreFocus } from "../../parts/controls/ActionDialog.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { faultsOf, readCatalog } from "../catalog/draft/catalogCalls.ts"
import type { CatalogText } from "../catalog/draft/catalogEntries.ts"
import { below } from "../catalog/forms/ModelFields.tsx"
import { PriceFields } from "../catalog/forms/PriceFields.tsx"
import { choiceOf, markChoices, markOf } from "../customers/WatermarkDialog.tsx"
import { emptyList, type PriceListText, sampleOf, savePriceList } from "./priceListText.ts"

const kinds = ["factor", "prices"] as const

interface FieldsProps {
  readonly value: PriceListText
  readonly catalog: CatalogText
  readonly onChange: (value: PriceListText) => void
  readonly faultAt: (path: string) => string | undefined
}

const FactorField = ({ value, catalog, onChange, faultAt }: FieldsProps) => {
  const { t } = useTranslation("priceLists")
  const sample = sampleOf(catalog, value.factor ?? "")
  return (
    <Stack gap={4}>
      <TextInput
        label={t("factor")}
        description={t("factorHint")}
        inputMode="decimal"
        value={value.factor ?? ""}
        error={faultAt("factor")}
        onChange={(event) => onChange({ ...value, factor: event.currentTarget.value })}
      />
      {sample === null ? null : (
        <Text size="sm" c="dimmed">
          {t("sample", sample)}
        </Text>
      )}
    </Stack>
  )
}

/** A price table for each model that the list prices, and the choice of a further model. */
const ModelPrices = ({ value, catalog, onChange, faultAt }: FieldsProps) => {
  const { t } = useTranslation("priceLists")
  const { prices } = value
  const modelOf = (id: string) => catalog.models.find((model) => model.id === id)
  const without = (id: string) =>
    Object.fromEntries(Object.entries(prices).filter(([name]) => name !== id))
  const further = catalog.models.filter((model) => model.prices && !(model.id in prices))
  return (
    <Stack>
      {Object.entries(prices).map(([id, table]) => (
        <PriceFields
          key={id}
          label={id}
          modality={modelOf(id)?.modality ?? "video"}
          value={table}
          none={t("none")}
          onChange={(next) =>
            onChange({
              ...value,
              prices: next === undefined ? without(id) : { ...prices, [id]: next }
            })
          }
          faultAt={below(faultAt, `prices.${id}`)}
        />
      ))}
      <Select
        label={t("model")}
        description={t("modelHint")}
        searchable
        data={further.map(({ id }) => id)}
        value={null}
        error={faultAt("prices")}
        onChange={(id) => {
          const table = id === null ? undefined : modelOf(id)?.prices
          if (id !== null && table !== undefined) {
            onChange({ ...value, prices: { ...prices, [id]: table } })
          }
        }}
      />
    </Stack>
  )
}

const Fields = (props: FieldsProps) => {
  const { t } = useTranslation("priceLists")
  const { value, onChange, faultAt } = props
  return (
    <>
      <TextInput
        label={t("name")}
        value={value.name}
        error={faultAt("name")}
        data-autofocus
        onChange={(event) => onChange({ ...value, name: event.currentTarget.value })}
      />
      <Select
        label={t("kind")}
        data={kinds.map((kind) => ({ value: kind, label: t(`kinds.${kind}`) }))}
        value={value.factor === null ? "prices" : "factor"}
        allowDeselect={false}
        onChange={(kind) => onChange({ ...value, factor: kind === "factor" ? "" : null })}
      />
      {value.factor === null ? <ModelPrices {...props} /> : <FactorField {...props} />}
      <TextInput
        type="date"
        label={t("holdsFrom")}
        description={t("holdsFromHint")}
        value={value.holdsFrom}
        error={faultAt("holds_from")}
        onChange={(event) => onChange({ ...value, holdsFrom: event.currentTarget.value })}
      />
      <Select
        label={t("watermark")}
        description={t("watermarkHint")}
        data={markChoices.map((choice) => ({ value: choice, label: t(`watermarks.${choice}`) }))}
        value={choiceOf(value.watermark)}
        allowDeselect={false}
        onChange={(picked) => onChange({ ...value, watermark: markOf(picked) })}
      />
    </>
  )
}

interface Warning {
  readonly path: string
  readonly message: string
}

interface Props {
  /** The list that is replaced; null for a new one. */
  readonly stored: { readonly id: string; readonly text: PriceListText } | null
  readonly onSaved: (warnings: ReadonlyArray<Warning>) => void
  readonly onClose: () => void
}

export const PriceListDialog = ({ stored, onSaved, onClose }: Props) => {
  const { t } = useTranslation("priceLists")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [value, setValue] = useState(stored?.text ?? emptyList)
  const catalog = useApiQuery(["catalog", "text"], readCatalog)
  const save = useApiMutation(
    (text: PriceListText) => () => savePriceList(session, stored?.id ?? null, text),
    [["price-lists"]]
  )
  useRestoreFocus()
  const faults = save.error === null ? null : faultsOf(save.error)
  const document = catalog.data?.document ?? { channels: [], models: [], mounts: [] }
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      returnFocus={false}
      title={stored === null ? t("create") : t("editTitle", { name: stored.text.name })}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!save.isPending) {
            save.mutate(value, { onSuccess: ({ warnings }) => onSaved(warnings) })
          }
        }}
      >
        <Stack>
          <Fields
            value={value}
            catalog={document}
            onChange={setValue}
            faultAt={(path) => faults?.find((fault) => fault.path === path)?.message}
          />
          {faults === null ? null : <Findings findings={faults} />}
          {save.error === null || faults !== null ? null : <FailureNote error={save.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {shell("cancel")}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t("save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** Faults or warnings with the paths of their fields. */
export const Findings = ({ findings }: { readonly findings: ReadonlyArray<Warning> }) => (
  <Alert color="red" role="alert">
    <List size="sm">
      {findings.map(({ path, message }) => (
        <List.Item key={`${path} ${message}`}>
          <span className="id">{path} </span>
          {message}
        </List.Item>
      ))}
    </List>
  </Alert>
)
