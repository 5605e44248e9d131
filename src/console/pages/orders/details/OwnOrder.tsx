/** One order of the member: its timeline, its result, and its receipt. */
import { Alert, Card, Grid, Group, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { type TaskKind, taskKindOf } from "../../../../domain/orderIds.ts"
import type { OwnOrderView } from "../../../../http/api/orderViews.ts"
import { useApiQuery } from "../../../gateway/hooks.tsx"
import { useHasScopes } from "../../../gateway/me.ts"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { Receipt } from "../../../parts/money/Receipt.tsx"
import { QueryView } from "../../../parts/QueryView.tsx"
import { QueueNote } from "../../../parts/QueueNote.tsx"
import { Id } from "../../../parts/texts.tsx"
import { callsOfKey } from "../../webhooks/hookCalls.ts"
import { StateMark, Tags } from "../orderMarks.tsx"
import { CancelButton } from "./CancelButton.tsx"
import { DeleteButton } from "./DeleteButton.tsx"
import { OrderLife } from "./OrderLife.tsx"
import { OrderPlayer } from "./OrderPlayer.tsx"
import { useDeliverySteps } from "./orderDeliveries.tsx"
import { CopyLink, Facts, isMissing, ListLink, NoSuchOrder, Section } from "./orderFrame.tsx"
import { useOwnLife } from "./ownLife.ts"

type Order = typeof OwnOrderView.Type

const EVERY_MILLIS = 2_000

/** The kind of the order's task; null where the order was answered with its result. */
const taskKindIn = ({ id, is_task }: Order): TaskKind | null => (is_task ? taskKindOf(id) : null)

/**
 * The kind of the task where it can be deleted. For its client, a video that no vendor accepted is
 * no task.
 */
const deletableKind = (order: Order): TaskKind | null => {
  const kind = taskKindIn(order)
  const isTask = kind !== "video" || order.accepted_at !== null
  return order.state !== "processing" && order.deleted_at === null && isTask ? kind : null
}

/** The kind of a task on which a vendor works, which may cancel it; null for every other order. */
const cancellableKind = (order: Order): "video" | "image" | null => {
  const kind = taskKindIn(order)
  return order.state === "processing" && (kind === "video" || kind === "image") ? kind : null
}

/** The place of an order in the queue of its channel, or a note that its result is being made. */
const RunningNote = ({ id, isVideo }: { readonly id: string; readonly isVideo: boolean }) => {
  const { t } = useTranslation("orders")
  const task = useApiQuery(
    ["orders", "queue", id],
    (gateway) => gateway.videos.read({ params: { task_id: id }, query: { wait: 0 } }),
    { isEnabled: isVideo, intervalMillis: EVERY_MILLIS }
  )
  const queue = task.data !== undefined && "queue" in task.data ? task.data.queue : undefined
  return queue === undefined ? (
    <Text c="dimmed">{t("player.waiting")}</Text>
  ) : (
    <QueueNote {...queue} />
  )
}

const Result = ({ order }: { readonly order: Order }) => {
  const { t } = useTranslation("orders")
  const { id, state, deleted_at } = order
  const kind = taskKindIn(order)
  if (deleted_at !== null) return <Text c="dimmed">{t("player.deleted")}</Text>
  if (state === "failed") {
    return (
      <Alert
        color="red"
        title={<span className="said">{order.error?.message ?? t("states.failed")}</span>}
      >
        <Text size="sm" className="said">
          {order.error?.code ?? t("player.toldAtOnce")}
        </Text>
      </Alert>
    )
  }
  if (kind === null) return <Text c="dimmed">{t("player.notKept")}</Text>
  if (state === "processing") return <RunningNote id={id} isVideo={kind === "video"} />
  return <OrderPlayer id={id} kind={kind} />
}

const OpenedOrder = ({ order }: { readonly order: Order }) => {
  const { t } = useTranslation("orders")
  const { usage_id } = order
  const deletable = deletableKind(order)
  const cancellable = cancellableKind(order)
  const receipt = useApiQuery(
    ["orders", "receipt", usage_id],
    (gateway) => gateway.account.receipt({ params: { id: usage_id ?? "" } }),
    { isEnabled: usage_id !== null }
  )
  const life = useOwnLife(order, receipt.data)
  const deliverySteps = useDeliverySteps(callsOfKey, {
    orderId: order.id,
    isOpen: order.state === "processing",
    isEnabled: useHasScopes("webhooks"),
    hrefOf: (endpoint) => `~/console/webhooks/${endpoint.id}`
  })
  return (
    <Stack>
      <ListLink />
      <Group justify="space-between">
        <Title order={1} size="h2">
          {t("one.title", { kind: t(`kinds.${order.kind}`), model: order.model })}
        </Title>
        <Group gap="xs">
          <CopyLink />
          {cancellable === null ? null : <CancelButton id={order.id} kind={cancellable} />}
          {deletable === null ? null : <DeleteButton id={order.id} kind={deletable} />}
        </Group>
      </Group>
      <Group gap="lg">
        <StateMark state={order.state} />
        <Id id={order.id} isFull />
      </Group>
      <Grid>
        <Grid.Col span={{ base: 12, lg: 5 }} order={{ base: 2, lg: 1 }}>
          <Card withBorder p="md">
            <OrderLife parts={life.parts} steps={[...life.steps, ...deliverySteps]} />
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 7 }} order={{ base: 1, lg: 2 }}>
          <Stack>
            <Section label={t("player.label")}>
              <Result order={order} />
            </Section>
            <Section label={t("receipt.label")}>
              {usage_id === null ? (
                <Text c="dimmed">
                  {t(order.state === "processing" ? "receipt.soon" : "receipt.none")}
                </Text>
              ) : (
                <QueryView query={receipt}>{(answer) => <Receipt receipt={answer} />}</QueryView>
              )}
            </Section>
            <Section label={t("one.facts")}>
              <Facts
                label={t("one.facts")}
                facts={{
                  [t("one.model")]: order.model,
                  [t("one.modality")]: order.modality,
                  [t("one.key")]: <Id id={order.key_id} />,
                  [t("one.tags")]:
                    order.metadata === null ? null : <Tags metadata={order.metadata} />,
                  [t("one.digest")]:
                    order.prompt_digest === null ? null : <Id id={order.prompt_digest} />
                }}
              />
            </Section>
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

export const OwnOrder = ({ id }: { readonly id: string }) => {
  const order = useApiQuery(
    ["orders", "one", id],
    (gateway) => gateway.orders.read({ params: { id } }),
    { intervalMillis: EVERY_MILLIS, isFinal: ({ state }) => state !== "processing" }
  )
  if (order.isError && isMissing(order.error)) return <NoSuchOrder id={id} />
  if (order.isError && order.data === undefined) {
    return (
      <Stack>
        <ListLink />
        <FailureNote error={order.error} onRetry={() => void order.refetch()} />
      </Stack>
    )
  }
  return <QueryView query={order}>{(answer) => <OpenedOrder order={answer} />}</QueryView>
}
