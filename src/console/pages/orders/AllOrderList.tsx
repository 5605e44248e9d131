/** The orders of all organisations, with filters by all their properties. */
import { Button, Card, Collapse, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import type { OrderTotalsView } from "../../../features/usage/OrderListsApi.ts"
import type { OrderView } from "../../../http/api/orderViews.ts"
import { type ListPage, usePages } from "../../gateway/hooks.tsx"
import { useCatalog } from "../../gateway/useCatalog.ts"
import { omitEmpty } from "../../parts/controls/addressFields.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Amount, groupDigits, Id } from "../../parts/texts.tsx"
import { usePriceLists } from "../priceLists/usePriceLists.ts"
import { ChoiceField, DayField, FieldGrid, PeriodField, TextField } from "./FilterFields.tsx"
import { OrderSearch } from "./OrderSearch.tsx"
import { choicesOf, EVERY_MILLIS, LiveSwitch, useChoices } from "./OwnOrderList.tsx"
import { useOrderColumns } from "./orderColumns.tsx"
import {
  AllFilters,
  DIGEST,
  type OrderFilters,
  TAG,
  useFilters,
  useOrderFilters
} from "./orderFilters.ts"
import { OwnerField, OwnerName } from "./owners.tsx"

type Order = typeof OrderView.Type
type Sums = typeof OrderTotalsView.Type
interface Page extends ListPage<Order> {
  readonly totals?: Sums
}

const PAGE = 50

const Totals = ({ totals }: { readonly totals: Sums }) => {
  const { t } = useTranslation("orders")
  const { currency } = totals
  const count = (value: number) => groupDigits(String(value))
  const figures: ReadonlyArray<readonly [string, ReactNode]> = [
    [t("totals.count"), count(totals.count)],
    [t("totals.processing"), count(totals.processing)],
    [t("totals.succeeded"), count(totals.succeeded)],
    [t("totals.failed"), count(totals.failed)],
    [t("totals.held"), <Amount key="held" value={totals.held} currency={currency} />],
    [t("totals.charge"), <Amount key="charge" value={totals.charge} currency={currency} />],
    [t("totals.returned"), <Amount key="returned" value={totals.returned} currency={currency} />],
    [t("totals.cost"), <Amount key="cost" value={totals.cost} currency={currency} />]
  ]
  return (
    <Card withBorder p="sm" component="section" aria-label={t("totals.label")}>
      <SimpleGrid cols={{ base: 2, sm: 4, xl: 8 }} spacing="sm" component="dl" m={0}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" m={0} fw={600} className="amount">
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      {totals.without_cost === 0 ? null : (
        <Text size="xs" c="dimmed" mt="xs">
          {t("totals.withoutCost", { count: totals.without_cost })}
        </Text>
      )}
    </Card>
  )
}

/** The value that finds orders by the catalog's prices. */
const NO_LIST = "none"

/** Filters that are hidden behind a button. */
const rare = [
  ...(["member_id", "key_id", "modality", "price_list"] as const),
  ...(["tag", "upstream_id", "prompt_digest"] as const)
]

interface FilterProps {
  readonly filters: OrderFilters
  /** Whether the list is limited to one organisation. */
  readonly isLimited: boolean
}

const Filters = ({ filters, isLimited }: FilterProps) => {
  const { t } = useTranslation("orders")
  const choices = useChoices()
  // The rare filters are shown when one of them is set.
  const [isOpen, { toggle }] = useDisclosure(rare.some((name) => filters.value(name) !== ""))
  const catalog = useCatalog()
  const priceLists = usePriceLists()
  return (
    <Stack gap="xs" role="group" aria-label={t("filters.label")}>
      <FieldGrid>
        {isLimited ? null : (
          <OwnerField owner="organization" filters={filters} label={t("filters.organization")} />
        )}
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
          data={choicesOf(catalog.data?.models)}
        />
        <ChoiceField
          filters={filters}
          name="channel"
          label={t("filters.channel")}
          data={choicesOf(catalog.data?.channels)}
        />
        <PeriodField filters={filters} />
      </FieldGrid>
      <Collapse expanded={isOpen}>
        <FieldGrid>
          <DayField filters={filters} name="from" label={t("filters.from")} />
          <DayField filters={filters} name="to" label={t("filters.to")} />
          <OwnerField owner="member" filters={filters} label={t("filters.member")} />
          <OwnerField owner="key" filters={filters} label={t("filters.key")} />
          <ChoiceField
            filters={filters}
            name="modality"
            label={t("filters.modality")}
            data={choices.modalities}
          />
          <ChoiceField
            filters={filters}
            name="price_list"
            label={t("filters.priceList")}
            data={[
              { value: NO_LIST, label: t("filters.noList") },
              ...(priceLists.data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? [])
            ]}
          />
          <TextField
            filters={filters}
            name="tag"
            label={t("filters.tag")}
            placeholder={t("filters.tagHint")}
            pattern={TAG}
            hint={t("filters.tagHint")}
          />
          <TextField filters={filters} name="upstream_id" label={t("filters.upstreamId")} />
          <TextField
            filters={filters}
            name="prompt_digest"
            label={t("filters.digest")}
            placeholder={t("filters.digestHint")}
            pattern={DIGEST}
            hint={t("filters.digestHint")}
          />
        </FieldGrid>
      </Collapse>
      <Group gap="xs">
        <Button variant="subtle" size="compact-sm" onClick={toggle} aria-expanded={isOpen}>
          {t(isOpen ? "filters.less" : "filters.more")}
        </Button>
        {filters.isAny ? (
          <Button variant="subtle" size="compact-sm" onClick={() => filters.replaceAll({})}>
            {t("filters.clear")}
          </Button>
        ) : null}
      </Group>
    </Stack>
  )
}

const useFurther = (
  currency: string | undefined,
  isLimited: boolean
): ReadonlyArray<Column<Order>> => {
  const { t } = useTranslation("orders")
  return [
    {
      name: "organization",
      label: t("columns.organization"),
      isHidden: isLimited,
      cell: ({ organization_id }) => <OwnerName owner="organization" id={organization_id} />
    },
    {
      name: "member",
      label: t("columns.member"),
      isHidden: true,
      cell: ({ member_id }) => <OwnerName owner="member" id={member_id} />
    },
    {
      name: "key",
      label: t("columns.key"),
      isHidden: true,
      cell: ({ key_id }) => <OwnerName owner="key" id={key_id} />
    },
    {
      name: "channel",
      label: t("columns.channel"),
      cell: ({ channel }) => <span className="amount">{channel}</span>
    },
    {
      name: "upstreamId",
      label: t("columns.upstreamId"),
      isHidden: true,
      cell: ({ upstream_id }) => (upstream_id === null ? "" : <Id id={upstream_id} />)
    },
    {
      name: "digest",
      label: t("columns.digest"),
      isHidden: true,
      cell: ({ prompt_digest }) => (prompt_digest === null ? "" : <Id id={prompt_digest} />)
    },
    {
      name: "cost",
      label: currency === undefined ? t("columns.cost") : `${t("columns.cost")} (${currency})`,
      isNumber: true,
      isHidden: true,
      cell: ({ cost }) => (cost === null ? "" : <Amount value={cost} />)
    }
  ]
}

const Table = ({
  orders,
  filters,
  isLimited
}: FilterProps & {
  readonly orders: UseInfiniteQueryResult<InfiniteData<ListPage<Order>>>
}) => {
  const { t } = useTranslation("orders")
  const currency = orders.data?.pages[0]?.data[0]?.currency
  const columns = useOrderColumns({
    filters,
    currency,
    between: useFurther(currency, isLimited),
    hasTags: isLimited
  })
  return (
    <DataTable
      label={t("table")}
      columns={columns}
      query={orders}
      empty={orders.hasNextPage ? t("goOn") : filters.isAny ? t("noneSuch") : t("none")}
    />
  )
}

/** The orders of all organisations, or of one. */
export const AllOrderList = ({ organizationId }: { readonly organizationId?: string }) => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  const filters = useOrderFilters(organizationId)
  const isLimited = organizationId !== undefined
  const query = {
    ...useFilters(AllFilters),
    ...omitEmpty("organization_id", filters.value("organization_id"))
  }
  const [isLive, setLive] = useState(true)
  const isSummed = !("upstream_id" in query || "prompt_digest" in query || "price_list" in query)
  const orders = usePages<Order, Page, unknown>(
    ["orders", "all", query],
    (after) => (gateway) =>
      gateway.orderLists.listOrders({
        query: {
          ...query,
          ...after,
          limit: PAGE,
          // Totals cover the whole list, so only the first page requests them.
          totals: isSummed && after.after === undefined ? "true" : "false"
        }
      }),
    { intervalMillis: isLive ? EVERY_MILLIS : undefined }
  )
  const totals = orders.data?.pages[0]?.totals
  return (
    <Stack>
      <Group justify={isLimited ? "flex-end" : "space-between"}>
        {isLimited ? null : <Title order={1}>{shell("pages.allOrders")}</Title>}
        <LiveSwitch isLive={isLive} onChange={setLive} at={orders.dataUpdatedAt} />
      </Group>
      {isLimited ? null : <Text c="dimmed">{t("allLead")}</Text>}
      <OrderSearch filters={filters} label={t("search.all")} acceptsVendorIds />
      <Filters filters={filters} isLimited={isLimited} />
      {totals === undefined ? (
        isSummed ? null : (
          <Text size="sm" c="dimmed">
            {t("totals.not")}
          </Text>
        )
      ) : (
        <Totals totals={totals} />
      )}
      <Table orders={orders} filters={filters} isLimited={isLimited} />
    </Stack>
  )
}
