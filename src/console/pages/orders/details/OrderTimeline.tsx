/** One order for operators: its timeline, its channels and calls, and its ledger entries. */
import { Alert, Card, Grid, Group, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../../gateway/hooks.tsx"
import { RowTable } from "../../../parts/DataTable.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { Receipt } from "../../../parts/money/Receipt.tsx"
import { QueryView } from "../../../parts/QueryView.tsx"
import { Amount, groupDigits, Id, Timestamp } from "../../../parts/texts.tsx"
import { callsOfOperator } from "../../webhooks/hookCalls.ts"
import { StateMark } from "../orderMarks.tsx"
import { OwnerName } from "../owners.tsx"
import { CancelButton } from "./CancelButton.tsx"
import { OrderLife } from "./OrderLife.tsx"
import { OrphanCase } from "./OrphanCase.tsx"
import { useDeliverySteps } from "./orderDeliveries.tsx"
import { CopyLink, Facts, isMissing, ListLink, NoSuchOrder, Section } from "./orderFrame.tsx"
import { isOpen, type OrderHistory, useTimelineLife } from "./timelineLife.ts"
import { JsonText, VendorCalls } from "./VendorCalls.tsx"

const EVERY_MILLIS = 2_000

const stateOf = (history: OrderHistory) =>
  isOpen(history) ? "processing" : history.state === "succeeded" ? "succeeded" : "failed"

/**
 * The kind of a task that may be cancelled; null for every other order. Only tasks have a summary of
 * the order.
 */
const cancellableKind = (history: OrderHistory): "video" | "image" | null => {
  const { kind, summary } = history
  return isOpen(history) && summary !== null && (kind === "video" || kind === "image") ? kind : null
}

const renderTime = (at: string | null) => (at === null ? null : <Timestamp at={at} />)

const OrderFacts = ({ history }: { readonly history: OrderHistory }) => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  return (
    <Section label={t("one.facts")}>
      <Facts
        label={t("one.facts")}
        facts={{
          [t("one.organization")]: (
            <OwnerName owner="organization" id={history.organization_id} withId />
          ),
          [t("one.member")]: <OwnerName owner="member" id={history.member_id} withId />,
          [t("one.key")]:
            history.key_id === null ? null : <OwnerName owner="key" id={history.key_id} withId />,
          [t("one.model")]: history.model,
          [t("one.channel")]: history.channel,
          [t("one.protocol")]: history.protocol,
          [t("one.listedProtocol")]:
            history.listed_protocol === history.protocol ? null : history.listed_protocol,
          [t("one.upstreamModel")]: history.upstream_model,
          [t("one.upstreamId")]:
            history.upstream_id === null ? null : <Id id={history.upstream_id} isFull />,
          [t("one.tokens")]:
            history.completion_tokens === null
              ? null
              : groupDigits(String(history.completion_tokens)),
          [t("one.asked")]: renderTime(history.asked_at),
          [t("one.next")]: isOpen(history) ? renderTime(history.next_poll_at) : null,
          [t("one.deadline")]: isOpen(history) ? renderTime(history.deadline) : null,
          [t("one.unknownSince")]: renderTime(history.unknown_since),
          [t("one.idempotent")]: shell(history.idempotency_key ? "yes" : "no")
        }}
      />
      {history.summary === null ? null : (
        <JsonText label={t("one.summary")} value={history.summary} />
      )}
    </Section>
  )
}

const Attempts = ({ attempts }: Pick<OrderHistory, "attempts">) => {
  const { t } = useTranslation("orders")
  return (
    <Section label={t("attempts.label")}>
      <RowTable
        label={t("attempts.label")}
        rows={attempts}
        columns={[
          { name: "channel", label: t("attempts.channel"), cell: ({ channel }) => channel },
          {
            name: "protocol",
            label: t("attempts.protocol"),
            isHidden: true,
            cell: ({ protocol }) => protocol
          },
          {
            name: "model",
            label: t("attempts.model"),
            cell: ({ upstream_model }) => upstream_model
          },
          {
            name: "started",
            label: t("attempts.started"),
            cell: ({ started_at }) => <Timestamp at={started_at} isShort />
          },
          {
            name: "reason",
            label: t("attempts.reason"),
            cell: ({ message, reason, status }) =>
              reason === null ? null : (
                <>
                  {reason}
                  {status === null ? "" : ` · HTTP ${status}`}
                  {message === null ? null : (
                    <Text size="sm" c="dimmed" className="said">
                      {message}
                    </Text>
                  )}
                </>
              )
          }
        ]}
      />
    </Section>
  )
}

/** The failure of an order: which channel answered what, and the code. */
const Failure = ({ attempts, error }: Pick<OrderHistory, "attempts" | "error">) => {
  const { t } = useTranslation("orders")
  if (error === null) return null
  const { channel = "", status = null } = attempts.at(-1) ?? {}
  const { message } = error
  return (
    <Alert
      color="red"
      title={
        <span className="said">
          {status === null
            ? t("attempts.failed", { channel, message })
            : t("attempts.answered", { channel, status, message })}
        </span>
      }
    >
      <Text size="sm" className="said">
        {error.code}
      </Text>
    </Alert>
  )
}

const Quote = ({ quote }: Pick<OrderHistory, "quote">) => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  const { kind, amount, unit_price, input_unit_price, with_video, smart, ...counts } = quote
  const surcharge = counts.reference_surcharge
  const formatFlag = (flag: boolean | undefined) =>
    flag === undefined ? null : shell(flag ? "yes" : "no")
  const formatMillis = (millis: number | undefined) =>
    millis === undefined ? null : `${millis / 1000} s`
  const count = (value: number | undefined) =>
    value === undefined ? null : groupDigits(String(value))
  return (
    <Section label={t("quote.label")}>
      <Facts
        label={t("quote.label")}
        facts={{
          [t("quote.kind")]: kind,
          [t("quote.amount")]: <Amount value={amount} />,
          [t("quote.unit_price")]: <Amount value={unit_price} />,
          [t("quote.input_unit_price")]:
            input_unit_price === undefined ? null : <Amount value={input_unit_price} />,
          [t("quote.resolution")]: counts.resolution,
          [t("quote.tier")]: counts.tier,
          [t("quote.with_video")]: formatFlag(with_video),
          [t("quote.smart")]: formatFlag(smart),
          [t("quote.references")]: count(surcharge?.references),
          [t("quote.references_free")]: count(surcharge?.beyond),
          [t("quote.reference_price")]:
            surcharge === undefined ? null : <Amount value={surcharge.unit_price} />,
          [t("quote.input_seconds")]: count(counts.input_seconds),
          [t("quote.output_seconds")]: count(counts.output_seconds),
          [t("quote.estimated_tokens")]: count(counts.estimated_tokens),
          [t("quote.images")]: count(counts.images),
          [t("quote.input_tokens")]: count(counts.input_tokens),
          [t("quote.output_tokens")]: count(counts.output_tokens),
          [t("quote.characters")]: count(counts.characters),
          [t("quote.milliseconds")]: formatMillis(counts.milliseconds),
          [t("quote.searches")]: count(counts.searches),
          [t("quote.documents")]: count(counts.documents)
        }}
      />
    </Section>
  )
}

const Ledger = ({ ledger }: Pick<OrderHistory, "ledger">) => {
  const { t } = useTranslation("orders")
  return (
    <Section label={t("ledger.label")}>
      <RowTable
        label={t("ledger.label")}
        rows={ledger}
        columns={[
          { name: "kind", label: t("ledger.kind"), cell: ({ kind }) => t(`ledger.kinds.${kind}`) },
          {
            name: "amount",
            label: t("ledger.amount"),
            isNumber: true,
            cell: ({ amount }) => <Amount value={amount} />
          },
          { name: "at", label: t("ledger.at"), cell: ({ at }) => <Timestamp at={at} /> }
        ]}
      />
    </Section>
  )
}

const usageOf = ({ ledger }: OrderHistory): string | undefined =>
  ledger.find(({ usage }) => usage !== undefined)?.usage?.id

const useReceipt = (history: OrderHistory) => {
  const usage_id = usageOf(history)
  const { organization_id: id } = history
  return useApiQuery(
    ["orders", "operatorReceipt", usage_id],
    (gateway) => gateway.admin.readReceipt({ params: { id, usage_id: usage_id ?? "" } }),
    { isEnabled: usage_id !== undefined }
  )
}

/** A row of an amount; none where the amount is unknown. */
const amountRow = (label: string, value: string | null, currency: string) =>
  value === null ? [] : [[label, <Amount key={label} value={value} currency={currency} />] as const]

const ReceiptSection = ({ history }: { readonly history: OrderHistory }) => {
  const { t } = useTranslation("orders")
  const receipt = useReceipt(history)
  return (
    <Section label={t("receipt.label")}>
      {usageOf(history) === undefined ? (
        <Text c="dimmed">{t(isOpen(history) ? "receipt.soon" : "receipt.none")}</Text>
      ) : (
        <QueryView query={receipt}>
          {(answer) => (
            <Receipt
              receipt={answer}
              extraFacts={[
                ...amountRow(t("receipt.cost"), answer.cost, answer.currency),
                ...(answer.vendor_bill === null
                  ? []
                  : [
                      [
                        t("receipt.bill"),
                        t(`receipt.units.${answer.vendor_bill.unit}`, {
                          amount: answer.vendor_bill.amount
                        })
                      ] as const
                    ]),
                ...amountRow(t("receipt.reported"), answer.reported_cost, answer.currency),
                ...amountRow(t("receipt.difference"), answer.cost_difference, answer.currency)
              ]}
            />
          )}
        </QueryView>
      )}
    </Section>
  )
}

const OpenedTimeline = ({ history }: { readonly history: OrderHistory }) => {
  const { t } = useTranslation("orders")
  const { organization_id: id } = history
  const organization = useApiQuery(
    ["organizations", "currency", id],
    (gateway) => gateway.accounts.readOrganization({ params: { id } }),
    { isImmutable: true }
  )
  const life = useTimelineLife(
    history,
    organization.data?.currency ?? "",
    useReceipt(history).data?.corrections ?? []
  )
  const deliverySteps = useDeliverySteps(callsOfOperator(id, false), {
    orderId: history.id,
    isOpen: isOpen(history),
    isEnabled: true,
    hrefOf: (endpoint) => `~/console/customers/${id}/webhooks/${endpoint.id}`
  })
  const { orphan } = history
  const cancellable = cancellableKind(history)
  return (
    <Stack>
      <ListLink />
      <Group justify="space-between">
        <Title order={1} size="h2">
          {t("one.title", { kind: t(`kinds.${history.kind}`), model: history.model ?? "" })}
        </Title>
        <Group gap="xs">
          <CopyLink />
          {cancellable === null ? null : (
            <CancelButton id={history.id} kind={cancellable} isOperator />
          )}
        </Group>
      </Group>
      <Group gap="lg">
        <StateMark state={stateOf(history)} />
        <Id id={history.id} isFull />
      </Group>
      <Text size="sm" c="dimmed">
        {t("one.operatorsContent")}
      </Text>
      <Failure attempts={history.attempts} error={history.error} />
      {orphan === null ? null : <OrphanCase orphan={orphan} />}
      <Grid>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Stack>
            <Card withBorder p="md">
              <OrderLife parts={life.parts} steps={[...life.steps, ...deliverySteps]} />
            </Card>
            <OrderFacts history={history} />
            <Quote quote={history.quote} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            <Attempts attempts={history.attempts} />
            <Section label={t("calls.label")}>
              <VendorCalls calls={history.upstream_calls} total={history.upstream_calls_total} />
            </Section>
            <Ledger ledger={history.ledger} />
            <ReceiptSection history={history} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

export const OrderTimeline = ({ id }: { readonly id: string }) => {
  const history = useApiQuery(
    ["orders", "timeline", id],
    (gateway) => gateway.history.readTask({ params: { id } }),
    { intervalMillis: EVERY_MILLIS, isFinal: (answer) => !isOpen(answer) }
  )
  if (history.isError && isMissing(history.error)) return <NoSuchOrder id={id} />
  if (history.isError && history.data === undefined) {
    return (
      <Stack>
        <ListLink />
        <FailureNote error={history.error} onRetry={() => void history.refetch()} />
      </Stack>
    )
  }
  return <QueryView query={history}>{(answer) => <OpenedTimeline history={answer} />}</QueryView>
}
