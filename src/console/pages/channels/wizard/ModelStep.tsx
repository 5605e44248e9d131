/** The third step: the models to mount, of those that the vendor lists or by their ids. */
import {
  Button,
  Checkbox,
  ScrollArea,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput
} from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { CatalogText } from "../../catalog/draft/catalogEntries.ts"
import {
  listedModel,
  type NewModel,
  type NewVendor,
  newModelOf,
  withModality
} from "./newVendor.ts"
import { StepButtons } from "./StepButtons.tsx"

/** The number of listed models above which they can be searched. */
const MANY = 10

interface Props {
  readonly document: CatalogText
  readonly newVendor: NewVendor
  readonly onChange: (newVendor: NewVendor) => void
  readonly onNext: () => void
  readonly onBack: () => void
}

const FoundModels = ({
  modelIds,
  chosen,
  onChoose
}: {
  readonly modelIds: ReadonlyArray<string>
  readonly chosen: ReadonlyArray<string>
  readonly onChoose: (chosen: ReadonlyArray<string>) => void
}) => {
  const { t } = useTranslation("wizard")
  const [find, setFind] = useState("")
  const shown = modelIds.filter((id) => id.toLowerCase().includes(find.trim().toLowerCase()))
  return (
    <Stack gap="xs">
      {modelIds.length > MANY ? (
        <TextInput
          label={t("search")}
          value={find}
          onChange={(event) => setFind(event.currentTarget.value)}
        />
      ) : null}
      <Checkbox.Group
        label={t("found", { count: modelIds.length })}
        value={[...chosen]}
        onChange={onChoose}
      >
        <ScrollArea.Autosize mah={300} mt="xs" viewportProps={{ tabIndex: -1 }}>
          <Stack gap="xs" p={4}>
            {shown.map((id) => (
              <Checkbox key={id} value={id} label={id} />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Checkbox.Group>
    </Stack>
  )
}

const ModelFields = ({
  document,
  newVendor: { vendor },
  model,
  onChange
}: {
  readonly document: CatalogText
  readonly newVendor: NewVendor
  readonly model: NewModel
  readonly onChange: (model: NewModel) => void
}) => {
  const { t } = useTranslation("wizard")
  const { t: catalog } = useTranslation("catalog")
  const isListed = listedModel(document, model.id) !== undefined
  return (
    <SimpleGrid cols={{ base: 1, sm: vendor.modalities.length > 1 ? 2 : 1 }}>
      <TextInput
        label={`${t("names")} (${model.upstream})`}
        {...(isListed ? { description: t("listed") } : {})}
        inputWrapperOrder={["label", "input", "description", "error"]}
        value={model.id}
        onChange={(event) => onChange({ ...model, id: event.currentTarget.value.trim() })}
      />
      {vendor.modalities.length > 1 && !isListed ? (
        <Select
          label={`${catalog("fields.modality")} (${model.upstream})`}
          data={[...vendor.modalities]}
          value={model.modality}
          allowDeselect={false}
          onChange={(picked) => {
            const modality = vendor.modalities.find((candidate) => candidate === picked)
            if (modality !== undefined) onChange(withModality(vendor, model, modality))
          }}
        />
      ) : null}
    </SimpleGrid>
  )
}

export const ModelStep = ({ document, newVendor, onChange, onNext, onBack }: Props) => {
  const { t } = useTranslation("wizard")
  const { vendor, check, models } = newVendor
  const vendorModels = check?.models ?? []
  const chosen = models.map(({ upstream }) => upstream)
  const choose = (ids: ReadonlyArray<string>): void => {
    const byId = new Map(models.map((model) => [model.upstream, model]))
    const nextModels = [...new Set(ids)].map(
      (id) => byId.get(id) ?? newModelOf(document, vendor, id)
    )
    onChange({ ...newVendor, models: nextModels })
  }
  const typed = chosen.filter((id) => !vendorModels.includes(id))
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onNext()
      }}
    >
      <Stack>
        {vendorModels.length === 0 ? null : (
          <FoundModels
            modelIds={vendorModels}
            chosen={chosen.filter((id) => vendorModels.includes(id))}
            onChoose={(ids) => choose([...ids, ...typed])}
          />
        )}
        <TagsInput
          label={t("typed")}
          description={vendorModels.length === 0 ? t("typedHint") : t("moreHint")}
          data={[...vendor.models]}
          value={typed}
          acceptValueOnBlur
          onChange={(ids) => choose([...chosen.filter((id) => vendorModels.includes(id)), ...ids])}
        />
        {models.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t("noModels")}
          </Text>
        ) : (
          models.map((model) => (
            <ModelFields
              key={model.upstream}
              document={document}
              newVendor={newVendor}
              model={model}
              onChange={(changed) =>
                onChange({
                  ...newVendor,
                  models: models.map((other) => (other === model ? changed : other))
                })
              }
            />
          ))
        )}
        <StepButtons onBack={onBack}>
          <Button type="submit">{t("next")}</Button>
        </StepButtons>
      </Stack>
    </form>
  )
}
