/** The charges, vendor costs and margin of a range of days. */
import { Group, Select, Stack, Text, TextInput } from "@mantine/core"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import type { CostView } from "../../../features/usage/UsageSumsApi.ts"
import { usePages } from "../../gateway/hooks.tsx"
import { optionOf, useAddressFilters } from "../../parts/addressFilters.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { useNames } from "../../parts/money/useNames.ts"
import { Amount } from "../../parts/texts.tsx"

const groups = ["channel", "model", "organization", "day"] as const
const DAY = 86_400_000
const USUAL_DAYS = 30
const dayBefore = (days: number): string =>
  new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
const dayOr = (text: string, usual: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? text : usual

type CostRow = typeof CostView.Type & { readonly id: string }

/**
 * The margin as a share of the net charge. The share is a rounded number for display, not for
 * accounting.
 */
const shareOf = ({ charge, returned, margin }: CostRow): string => {
  const net = Number(charge) - Number(returned)
  return net > 0 && margin !== null ? `${((Number(margin) / net) * 100).toFixed(1)} %` : "–"
}

export const Costs = () => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const { get, set } = useAddressFilters()
  const names = useNames(null)
  const group = optionOf(get("by"), groups)
  const query = {
    by: group,
    from: dayOr(get("from"), dayBefore(USUAL_DAYS)),
    to: dayOr(get("to"), dayBefore(0))
  }
  const costs = usePages(
    ["books", "all", "costs", query],
    (after) => (gateway) =>
      Effect.map(
        gateway.usageSums.readCosts({ query: { ...query, ...after, limit: 100 } }),
        (page) => ({
          ...page,
          data: page.data.map((line): CostRow => ({ ...line, id: line[group] ?? "" }))
        })
      )
  )
  const currency = costs.data?.pages[0]?.data[0]?.currency
  const amount = (
    name: "charge" | "returned" | "cost" | "margin" | "reported_cost"
  ): Column<CostRow> => ({
    name,
    label: money(`spend.measures.${name}`),
    cell: (row) => <Amount value={row[name]} />,
    isNumber: true
  })
  const columns: ReadonlyArray<Column<CostRow>> = [
    {
      name: "name",
      label: group === "day" ? t("costs.day") : money(`spend.groups.${group}`),
      cell: ({ id }) => names.get(id) ?? id
    },
    { name: "count", label: money("spend.count"), cell: ({ count }) => count, isNumber: true },
    amount("charge"),
    amount("returned"),
    amount("cost"),
    {
      name: "without",
      label: t("costs.without"),
      cell: (row) => row.without_cost,
      isNumber: true
    },
    amount("reported_cost"),
    {
      name: "withoutReported",
      label: t("costs.withoutReported"),
      cell: (row) => row.without_reported_cost,
      isNumber: true,
      isHidden: true
    },
    amount("margin"),
    { name: "share", label: t("costs.share"), cell: shareOf, isNumber: true }
  ]
  return (
    <Stack gap="sm">
      <Text c="dimmed">
        {t("costs.lead")}
        {currency === undefined ? "" : ` ${t("costs.currency", { currency })}`}
      </Text>
      <Group align="flex-end" gap="sm">
        <Select
          label={money("spend.by")}
          allowDeselect={false}
          value={group}
          data={groups.map((value) => ({
            value,
            label: value === "day" ? t("costs.day") : money(`spend.groups.${value}`)
          }))}
          onChange={(value) => set({ by: value })}
        />
        {(["from", "to"] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={money(`spend.${name}`)}
            value={query[name]}
            onChange={(event) => set({ [name]: event.currentTarget.value })}
          />
        ))}
      </Group>
      <DataTable
        label={t("tabs.costs")}
        columns={columns}
        query={costs}
        empty={money("spend.nothing")}
      />
    </Stack>
  )
}
