/** All details of one channel, and its recent orders. */
import { Alert, Anchor, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { ChannelView } from "../../../features/catalog/ChannelsApi.ts"
import { usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { BackLink } from "../../parts/controls/BackLink.tsx"
import { DataTable, RowTable } from "../../parts/DataTable.tsx"
import { Amount, Id, shortId, Timestamp } from "../../parts/texts.tsx"
import { StateMark } from "../orders/orderMarks.tsx"
import { ChannelActions } from "./ChannelActions.tsx"
import { ChannelStateText, useReason } from "./ChannelState.tsx"
import {
  COST_DAYS,
  Durations,
  EVERY_MILLIS,
  FailureShare,
  useChannelCosts,
  useMountedModels
} from "./channelFigures.tsx"
import { RotateKeyDialog } from "./RotateKeyDialog.tsx"

const RECENT = 10

const Figure = ({
  label,
  hint,
  children
}: {
  readonly label: string
  readonly hint?: string
  readonly children: ReactNode
}) => (
  <Card withBorder p="sm">
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text fw={600} component="div">
      {children}
    </Text>
    {hint === undefined ? null : (
      <Text size="xs" c="dimmed">
        {hint}
      </Text>
    )}
  </Card>
)

const Figures = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const cost = useChannelCosts().get(channel.id)
  const days = t("days", { days: COST_DAYS })
  const amount = (value: string | null | undefined) =>
    value === undefined ? "–" : <Amount value={value} currency={cost?.currency} />
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <Figure label={`${t("failures")} · ${t("lastHour")}`}>
        <FailureShare channel={channel} />
      </Figure>
      <Figure label={`${t("latency")} · ${t("lastHour")}`} hint={t("durationHint")}>
        <Durations of={channel.latency_ms} />
      </Figure>
      <Figure label={`${t("lag")} · ${t("lastHour")}`} hint={t("lagHint")}>
        <Durations of={channel.completion_lag_ms} />
      </Figure>
      <Figure
        label={t("openTasks")}
        {...(channel.oldest_wait_seconds === null
          ? {}
          : {
              hint: t("waitingOrders", {
                count: channel.waiting_orders,
                seconds: channel.oldest_wait_seconds
              })
            })}
      >
        {channel.open_tasks}
      </Figure>
      <Figure label={`${t("charged")} · ${days}`}>{amount(cost?.charge)}</Figure>
      <Figure
        label={`${t("cost")} · ${days}`}
        {...(cost === undefined || cost.without_cost === 0
          ? {}
          : { hint: t("withoutCost", { count: cost.without_cost }) })}
      >
        {amount(cost?.cost)}
      </Figure>
      <Figure label={`${t("margin")} · ${days}`}>{amount(cost?.margin)}</Figure>
      <Figure label={`${t("calls")} · ${t("lastHour")}`}>{channel.calls}</Figure>
    </SimpleGrid>
  )
}

const Part = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Stack gap="xs">
    <Title order={2} size="h4">
      {title}
    </Title>
    {children}
  </Stack>
)

const Keys = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const reason = useReason()
  const [rotatedKey, setRotatedKey] = useState<string | null>(null)
  const mayRotate = hasRole(session, "operator") && channel.name !== null
  return (
    <>
      <RowTable
        label={t("keys")}
        rows={channel.keys}
        columns={[
          { name: "name", label: t("key"), cell: ({ name }) => name },
          {
            name: "state",
            label: t("state"),
            cell: ({ enabled, stored, rest }) =>
              t(
                `keyStates.${!stored ? "empty" : !enabled ? "unused" : rest === null ? "works" : "rests"}`
              )
          },
          {
            name: "reason",
            label: t("restReason"),
            cell: ({ rest }) => (rest === null ? "–" : reason(rest.reason, rest.status))
          },
          {
            name: "until",
            label: t("restUntil"),
            cell: ({ rest }) => (rest === null ? "–" : <Timestamp at={rest.until} />)
          },
          ...(mayRotate
            ? [
                {
                  name: "actions",
                  label: shell("actions"),
                  cell: ({ name }: ChannelView["keys"][number]) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={t("rotateOf", { name })}
                      onClick={() => setRotatedKey(name)}
                    >
                      {t("rotate")}
                    </Button>
                  )
                }
              ]
            : [])
        ]}
      />
      {rotatedKey === null ? null : (
        <RotateKeyDialog
          channelId={channel.id}
          keyName={rotatedKey}
          onClose={() => setRotatedKey(null)}
        />
      )}
    </>
  )
}

/**
 * The models of the channel that are in cooldown for everybody, and the organisations that are
 * slowed because their own orders fail.
 */
const Rests = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const reason = useReason()
  const { model_rests, slowed_organizations } = channel
  const rows = [
    ...model_rests.map((rest) => ({ ...rest, organization_id: null })),
    ...slowed_organizations
  ]
  if (rows.length === 0) return null
  return (
    <Part title={t("rests")}>
      <RowTable
        label={t("rests")}
        rows={rows}
        columns={[
          { name: "model", label: t("model"), cell: ({ model }) => model ?? t("allModels") },
          {
            name: "organization",
            label: t("organization"),
            cell: ({ organization_id }) =>
              organization_id === null ? t("everybody") : <Id id={organization_id} />
          },
          {
            name: "reason",
            label: t("restReason"),
            cell: (rest) => reason(rest.reason, rest.status)
          },
          { name: "until", label: t("restUntil"), cell: ({ until }) => <Timestamp at={until} /> }
        ]}
      />
    </Part>
  )
}

const OrderAnchor = ({ id }: { readonly id: string }) => (
  <Anchor component={Link} href={`~/console/all-orders/${id}`} size="sm" className="id" title={id}>
    {shortId(id)}
  </Anchor>
)

const RecentOrders = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("channels")
  const orders = usePages(
    ["channels", "orders", id],
    (after) => (gateway) =>
      gateway.orderLists.listOrders({
        query: { channel: id, limit: RECENT, totals: "false", ...after }
      }),
    { intervalMillis: EVERY_MILLIS }
  )
  return (
    <DataTable
      label={t("orders")}
      query={orders}
      columns={[
        { name: "id", label: t("order"), cell: ({ id: order }) => <OrderAnchor id={order} /> },
        { name: "model", label: t("model"), cell: ({ model }) => model },
        { name: "state", label: t("state"), cell: ({ state }) => <StateMark state={state} /> },
        {
          name: "charge",
          label: t("charge"),
          isNumber: true,
          cell: ({ charge, currency }) => <Amount value={charge} currency={currency} />
        },
        { name: "at", label: t("placed"), cell: (order) => <Timestamp at={order.created_at} /> }
      ]}
    />
  )
}

export const ChannelDetails = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const reason = useReason()
  const { id, name, failures, last_failure: last, drift } = channel
  const models = useMountedModels().get(id) ?? []
  return (
    <Stack gap="lg">
      <div>
        <BackLink href="/" label={t("back")} />
        <Group justify="space-between">
          <Title order={1}>{name ?? id}</Title>
          <ChannelActions channel={channel} />
        </Group>
        <Id id={id} isFull />
      </div>
      {name === null ? <Alert color="orange">{t("left")}</Alert> : null}
      <ChannelStateText channel={channel} />
      <Rests channel={channel} />
      <Figures channel={channel} />
      <Part title={t("keys")}>
        <Keys channel={channel} />
      </Part>
      <Part title={t("models")}>
        <Text size="sm">
          {models.length === 0 ? "–" : models.map(({ model }) => model).join(", ")}
        </Text>
      </Part>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Part title={`${t("failures")} · ${t("lastHour")}`}>
          <RowTable
            label={t("failures")}
            rows={Object.entries(failures).map(([kind, count]) => ({ kind, count }))}
            columns={[
              { name: "kind", label: t("restReason"), cell: ({ kind }) => reason(kind, null) },
              { name: "count", label: t("calls"), isNumber: true, cell: ({ count }) => count }
            ]}
          />
        </Part>
        <Part title={t("lastFailure")}>
          {last === null ? (
            <Text size="sm">{t("noFailure")}</Text>
          ) : (
            <Stack gap={4}>
              <Text size="sm">
                <Timestamp at={last.at} /> · {reason(last.reason, last.status)}
              </Text>
              <Text size="sm" className="said">
                {last.message}
              </Text>
            </Stack>
          )}
        </Part>
      </SimpleGrid>
      {drift.length === 0 ? null : (
        <Part title={t("drift")}>
          <RowTable
            label={t("drift")}
            rows={drift}
            columns={[
              { name: "model", label: t("model"), cell: ({ model }) => model },
              { name: "ratio", label: t("ratio"), isNumber: true, cell: ({ ratio }) => ratio }
            ]}
          />
        </Part>
      )}
      <Part title={t("orders")}>
        <Anchor
          component={Link}
          href={`~/console/all-orders?channel=${encodeURIComponent(id)}`}
          size="sm"
        >
          {t("allOrders")}
        </Anchor>
        <RecentOrders id={id} />
      </Part>
    </Stack>
  )
}
