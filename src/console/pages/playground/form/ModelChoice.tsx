/** A searchable list of the models by modality, with the prices of the selected one in a popover. */
import { Anchor, Group, Loader, Popover, Select, Stack, Text } from "@mantine/core"
import { lazy, type ReactNode, Suspense } from "react"
import { useTranslation } from "react-i18next"
import type { ModelEntry } from "../../../../http/api/models.ts"

const ModelPrices = lazy(async () => ({
  default: (await import("../../../parts/money/ModelPrices.tsx")).ModelPrices
}))

const MAX_LIST = 420
const MAX_WIDTH = 420

interface Props {
  readonly label: string
  readonly models: ReadonlyArray<ModelEntry>
  readonly model: ModelEntry
  readonly onChoose: (id: string) => void
  /** Further actions below the field. */
  readonly children?: ReactNode
}

export const ModelChoice = ({ label, models, model, onChoose, children }: Props) => {
  const { t } = useTranslation("playground")
  const modalities = [...new Set(models.map(({ modality }) => modality))]
  return (
    <Stack gap={4} flex={1} miw={200}>
      <Select
        label={label}
        searchable
        allowDeselect={false}
        maxDropdownHeight={MAX_LIST}
        nothingFoundMessage={t("noModel")}
        data={modalities.map((modality) => ({
          group: t(`modalities.${modality}`),
          items: models.filter((one) => one.modality === modality).map(({ id }) => id)
        }))}
        value={model.id}
        onChange={(id) => {
          if (id !== null) onChoose(id)
        }}
      />
      <Group gap="sm" justify="space-between">
        <Text size="sm" c="dimmed">
          {t(`modalities.${model.modality}`)} · {t("ownedBy", { owner: model.owned_by })}
        </Text>
        <Group gap="sm">
          <Popover position="bottom-end" shadow="md" withinPortal>
            <Popover.Target>
              <Anchor component="button" type="button" size="sm">
                {t("prices.open")}
              </Anchor>
            </Popover.Target>
            <Popover.Dropdown maw={MAX_WIDTH}>
              <Suspense fallback={<Loader size="sm" />}>
                <ModelPrices model={model} />
              </Suspense>
            </Popover.Dropdown>
          </Popover>
          {children}
        </Group>
      </Group>
    </Stack>
  )
}
