/** A member's own orders, updated while they are open. */
import { Button, Group, Stack, Switch, Text, Title } from "@mantine/core"
import { Struct } from "effect"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { modalities } from "../../../domain/catalog/Modality.ts"
import { publicStates } from "../../../domain/taskStates.ts"
import type { OwnOrderView } from "../../../http/api/orderViews.ts"
import { useApiQuery, usePages } from "../../gateway/hooks.tsx"
import { DataTable } from "../../parts/DataTable.tsx"
import { Timestamp } from "../../parts/texts.tsx"
import { ChoiceField, DayField, FieldGrid, PeriodField, TextField } from "./FilterFields.tsx"
import { OrderSearch } from "./OrderSearch.tsx"
import { useOrderColumns } from "./orderColumns.tsx"
import { OwnFilters, TAG, useFilters, useOrderFilters } from "./orderFilters.ts"

const PAGE = 50
export const EVERY_MILLIS = 3_000

/** A switch that stops the live updates of a list. */
export const LiveSwitch = ({
  isLive,
  onChange,
  at
}: {
  readonly isLive: boolean
  readonly onChange: (isLive: boolean) => void
  /** The time of the list's last response in milliseconds; 0 before the first. */
  readonly at: number
}) => {
  const { t } = useTranslation("orders")
  return (
    <Group gap="sm">
      {at === 0 || isLive ? null : (
        <Text size="sm" c="dimmed">
          <Timestamp at={new Date(at).toISOString()} />
        </Text>
      )}
      <Switch
        label={t("live")}
        title={t("liveHint")}
        checked={isLive}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </Group>
  )
}

/** The filter choices that all lists of orders share. */
export const useChoices = () => {
  const { t } = useTranslation("orders")
  const { t: playground } = useTranslation("playground")
  return {
    states: publicStates.map((value) => ({ value, label: t(`states.${value}`) })),
    modalities: Struct.keys(modalities)
      .filter((value) => modalities[value].status !== "planned")
      .map((value) => ({ value, label: playground(`modalities.${value}`) }))
  }
}

/** Entries with an id as choices. */
export const choicesOf = (entries: ReadonlyArray<{ readonly id: string }> | undefined) =>
  entries?.map(({ id }) => ({ value: id, label: id })) ?? []

export const OwnOrderList = () => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  const filters = useOrderFilters()
  const query = useFilters(OwnFilters)
  const [isLive, setLive] = useState(true)
  const orders = usePages(
    ["orders", "own", query],
    (after) => (gateway) => gateway.orders.list({ query: { ...query, ...after, limit: PAGE } }),
    { intervalMillis: isLive ? EVERY_MILLIS : undefined }
  )
  const models = useApiQuery(["models", "names"], (gateway) => gateway.models.list({ query: {} }))
  const choices = useChoices()
  const columns = useOrderColumns({
    filters,
    currency: orders.data?.pages[0]?.data[0]?.currency,
    hasFile: ({ is_task, deleted_at }: typeof OwnOrderView.Type) => is_task && deleted_at === null
  })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1}>{shell("pages.orders")}</Title>
        <LiveSwitch isLive={isLive} onChange={setLive} at={orders.dataUpdatedAt} />
      </Group>
      <Text c="dimmed">{t("lead")}</Text>
      <OrderSearch filters={filters} label={t("search.own")} acceptsVendorIds={false} />
      <Stack gap="xs" role="group" aria-label={t("filters.label")}>
        <FieldGrid columns={7}>
          <ChoiceField
            filters={filters}
            name="state"
            label={t("filters.state")}
            data={choices.states}
          />
          <ChoiceField
            filters={filters}
            name="model"
            label={t("filters.model")}
            data={choicesOf(models.data?.data.filter(({ status }) => status === "open"))}
          />
          <ChoiceField
            filters={filters}
            name="modality"
            label={t("filters.modality")}
            data={choices.modalities}
          />
          <TextField
            filters={filters}
            name="tag"
            label={t("filters.tag")}
            placeholder={t("filters.tagHint")}
            pattern={TAG}
            hint={t("filters.tagHint")}
          />
          <PeriodField filters={filters} />
          <DayField filters={filters} name="from" label={t("filters.from")} />
          <DayField filters={filters} name="to" label={t("filters.to")} />
        </FieldGrid>
        {filters.isAny ? (
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: "flex-start" }}
            onClick={() => filters.replaceAll({})}
          >
            {t("filters.clear")}
          </Button>
        ) : null}
      </Stack>
      <DataTable
        label={t("table")}
        columns={columns}
        query={orders}
        empty={orders.hasNextPage ? t("goOn") : filters.isAny ? t("noneSuch") : t("none")}
      />
    </Stack>
  )
}
