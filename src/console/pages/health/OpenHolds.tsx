/** Open orders by age, and the oldest of them. */
import { Anchor, Button, Group, Progress, Stack, Text, Title } from "@mantine/core"
import { useEffect } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { OrderView } from "../../../http/api/orderViews.ts"
import { usePages } from "../../gateway/hooks.tsx"
import { type Column, RowTable } from "../../parts/DataTable.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { Amount, Timestamp } from "../../parts/texts.tsx"
import { sumOf, useSamples } from "./currentMetrics.ts"
import { type AgeLine, agesOf } from "./holdAges.ts"

type Order = typeof OrderView.Type

const PAGE = 100
/** The number of pages that are loaded automatically; the oldest orders are on the last page. */
const PAGES = 10
const OLDEST = 10
/** The narrowest bar of a share, in pixels. */
const MIN_SHARE = 120

export const OpenHolds = () => {
  const { t } = useTranslation("health")
  const { t: shell } = useTranslation()
  const orders = usePages(
    ["orders", "open"],
    (after) => (gateway) =>
      gateway.orderLists.listOrders({
        query: { limit: PAGE, totals: "true", state: "processing", ...after }
      })
  )
  const { data, hasNextPage, isFetching, fetchNextPage } = orders
  const pages = data?.pages ?? []
  useEffect(() => {
    if (hasNextPage && !isFetching && pages.length < PAGES) void fetchNextPage()
  }, [hasNextPage, isFetching, pages.length, fetchNextPage])
  const loadedOrders: ReadonlyArray<Order> = pages.flatMap((page) => page.data)
  const totals = pages[0]?.totals
  const currency = totals?.currency
  const gauge = sumOf(useSamples(), "gateway_open_holds")
  const ages: ReadonlyArray<Column<AgeLine>> = [
    { name: "age", label: t("age"), cell: ({ name }) => t(`ages.${name}`) },
    { name: "count", label: t("orders"), isNumber: true, cell: ({ count }) => count },
    {
      name: "share",
      label: t("share"),
      cell: ({ name, count }) => (
        <Progress
          miw={MIN_SHARE}
          value={loadedOrders.length === 0 ? 0 : (count / loadedOrders.length) * 100}
          aria-label={`${t("share")}: ${t(`ages.${name}`)}`}
        />
      )
    },
    {
      name: "held",
      label: t("held"),
      isNumber: true,
      cell: ({ held }) => <Amount value={held} currency={currency} />
    }
  ]
  const oldest: ReadonlyArray<Column<Order>> = [
    {
      name: "order",
      label: t("order"),
      cell: ({ id }) => (
        <Anchor component={Link} href={`~/console/all-orders/${id}`} size="sm" className="id">
          {id}
        </Anchor>
      )
    },
    { name: "at", label: t("at"), cell: (row) => <Timestamp at={row.created_at} /> },
    { name: "model", label: t("model"), cell: (row) => row.model },
    { name: "channel", label: t("channel"), cell: (row) => row.channel },
    {
      name: "held",
      label: t("held"),
      isNumber: true,
      cell: (row) => <Amount value={row.hold} currency={row.currency} />
    }
  ]
  return (
    <Stack>
      <Title order={2} size="h4">
        {t("tabs.holds")}
      </Title>
      {orders.isError ? (
        <FailureNote error={orders.error} onRetry={() => void orders.refetch()} />
      ) : null}
      <Text size="sm">
        {orders.isPending
          ? shell("loading")
          : t(hasNextPage ? "lookedAtSome" : "lookedAtAll", { count: loadedOrders.length })}{" "}
        {gauge === null ? null : t("gaugeSays", { count: gauge })}
      </Text>
      <Group>
        <Button variant="default" loading={isFetching} onClick={() => void orders.refetch()}>
          {t("readAgain")}
        </Button>
        {hasNextPage && pages.length >= PAGES ? (
          <Button variant="default" loading={isFetching} onClick={() => void fetchNextPage()}>
            {t("lookFurther")}
          </Button>
        ) : null}
      </Group>
      <RowTable
        label={t("byAge")}
        columns={ages}
        rows={agesOf(loadedOrders, orders.dataUpdatedAt)}
      />
      <Title order={3} size="h5">
        {t("oldest")}
      </Title>
      <RowTable
        label={t("oldest")}
        columns={oldest}
        rows={loadedOrders.slice(-OLDEST).toReversed()}
        isBusy={orders.isPending}
        empty={t("nothingOpen")}
      />
    </Stack>
  )
}
