/** The models that the key may order, with their options and prices. */
import {
  Anchor,
  Card,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title
} from "@mantine/core"
import { IconSearch } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { ModelEntry } from "../../../http/api/models.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { useHasScopes } from "../../gateway/me.ts"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { ModelPrices } from "../../parts/money/ModelPrices.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Id } from "../../parts/texts.tsx"
import { kindOfModel } from "../playground/form/draft.ts"

/** What can be ordered of the model, as short texts. */
const useOptions = ({ aliases = [], durations, resolutions = [], images }: ModelEntry) => {
  const { t } = useTranslation("models")
  const { t: playground } = useTranslation("playground")
  const seconds =
    durations === undefined
      ? ""
      : durations.only === undefined
        ? playground("durationHint", { min: durations.min, max: durations.max })
        : playground("durationsHint", { seconds: durations.only.join(", ") })
  return [
    aliases.length === 0 ? "" : t("aliases", { names: aliases.join(", ") }),
    seconds,
    resolutions.join(", "),
    images === undefined ? "" : t("images", { count: images.max })
  ].filter((option) => option !== "")
}

const ModelCard = ({ model }: { readonly model: ModelEntry }) => {
  const { t } = useTranslation("models")
  const { t: playground } = useTranslation("playground")
  const options = useOptions(model)
  const { id, modality, owned_by } = model
  const canOrder = useHasScopes("videos", "images", "chat", "embeddings", "rerank", "audio")
  return (
    <Card withBorder component="article" aria-label={id} p="md">
      <Stack gap="xs" h="100%">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={2} size="h5">
            <Id id={id} isFull />
          </Title>
          <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
            {playground(`modalities.${modality}`)}
          </Text>
        </Group>
        <Text size="sm" c="dimmed">
          {[playground("ownedBy", { owner: owned_by }), ...options].join(" · ")}
        </Text>
        <ModelPrices model={model} />
        {canOrder ? (
          <Anchor
            component={Link}
            href={`~/console/playground?${new URLSearchParams({ model: id })}`}
            size="sm"
            mt="auto"
          >
            {t("try")}
          </Anchor>
        ) : null}
      </Stack>
    </Card>
  )
}

const ModelCards = ({ models }: { readonly models: ReadonlyArray<ModelEntry> }) => {
  const { t } = useTranslation("models")
  const { t: playground } = useTranslation("playground")
  const { get, set } = useAddressFilters()
  const offered = models.filter((model) => kindOfModel(model) !== null)
  const modalities = [...new Set(offered.map(({ modality }) => modality))]
  const modality = modalities.find((one) => one === get("modality"))
  const text = get("name").trim().toLowerCase()
  const shown = offered.filter(
    ({ id, aliases = [], modality: one }) =>
      (modality === undefined || one === modality) &&
      [id, ...aliases].some((name) => name.toLowerCase().includes(text))
  )
  return (
    <Stack>
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t("search")}
          leftSection={<IconSearch size={16} />}
          value={get("name")}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <SegmentedControl
          aria-label={t("modality")}
          style={{ flexWrap: "wrap" }}
          value={modality ?? ""}
          onChange={(value) => set({ modality: value })}
          data={[
            { value: "", label: t("all") },
            ...modalities.map((one) => ({ value: one, label: playground(`modalities.${one}`) }))
          ]}
        />
      </Group>
      {shown.length === 0 ? (
        <Text c="dimmed">{t("nothing")}</Text>
      ) : (
        <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
          {shown.map((model) => (
            <ModelCard key={model.id} model={model} />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  )
}

const ModelsPage = () => {
  const { t } = useTranslation("models")
  const { t: shell } = useTranslation()
  const models = useApiQuery(["models"], (gateway) => gateway.models.list({ query: {} }))
  return (
    <Stack>
      <Title order={1}>{shell("pages.models")}</Title>
      <Text c="dimmed">{t("lead")}</Text>
      <QueryView query={models} lines={8}>
        {({ data }) => <ModelCards models={data} />}
      </QueryView>
    </Stack>
  )
}
export default ModelsPage
