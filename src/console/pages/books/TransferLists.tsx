/** The deposits, adjustments and charges of one organisation; charges can be corrected here. */
import { Button, Group, Stack, Text, Title } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { AdjustmentView } from "../../../features/transfers/MoneyApi.ts"
import { useAsk, usePages, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { ReceiptModal } from "../../parts/money/Receipt.tsx"
import { type UsageRow, useUsageColumns } from "../../parts/money/usageColumns.tsx"
import { Amount, grouped, Id, Moment } from "../../parts/texts.tsx"
import { AdjustmentButton, DepositButton } from "./TransferForms.tsx"

interface Props {
  readonly id: string
  readonly currency: string
}

const totals = { totals: "true" as const }
const said = (text: string): ReactNode => <span className="said">{text}</span>

export const Transfers = ({ id, currency }: Props) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const params = { id }
  const deposits = usePages(
    ["books", id, "deposits"],
    (after) => (gateway) =>
      gateway.money.listDeposits({ params, query: { ...after, ...totals, limit: 20 } })
  )
  const adjustments = usePages(
    ["books", id, "adjustments"],
    (after) => (gateway) =>
      gateway.money.listAdjustments({ params, query: { ...after, ...totals, limit: 20 } })
  )
  const given = deposits.data?.pages[0]?.totals
  const moved = adjustments.data?.pages[0]?.totals ?? []
  const adjustmentColumns: ReadonlyArray<Column<typeof AdjustmentView.Type>> = [
    { name: "at", label: t("journal.at"), cell: (row) => <Moment at={row.created_at} /> },
    { name: "kind", label: t("journal.kind"), cell: ({ kind }) => money(`kinds.${kind}`) },
    {
      name: "amount",
      label: t("journal.amount"),
      cell: ({ amount }) => <Amount value={amount} />,
      isNumber: true
    },
    { name: "reason", label: t("journal.reason"), cell: ({ reason }) => said(reason) },
    { name: "author", label: t("journal.author"), cell: ({ author }) => said(author) },
    { name: "reference", label: t("journal.reference"), cell: ({ reference }) => said(reference) },
    {
      name: "usage",
      label: t("adjust.usage"),
      cell: ({ usage_id }) => (usage_id === null ? "" : <Id id={usage_id} />)
    }
  ]
  return (
    <Stack>
      {mayAct(session, "finance") ? (
        <Group gap="xs">
          <DepositButton organizationId={id} currency={currency} />
          <AdjustmentButton organizationId={id} currency={currency} label={t("adjust.open")} />
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {shell("noRight")}
        </Text>
      )}
      <Title order={3} size="h4">
        {t("adjust.title")}
      </Title>
      {moved.length === 0 ? null : (
        <Text size="sm">
          {moved
            .map(({ kind, count, amount }) =>
              t("adjust.sum", { kind: money(`kinds.${kind}`), count, amount: grouped(amount) })
            )
            .join(" · ")}{" "}
          {currency}
        </Text>
      )}
      <DataTable label={t("adjust.title")} columns={adjustmentColumns} query={adjustments} />
      <Title order={3} size="h4">
        {t("deposit.title")}
      </Title>
      {given === undefined ? null : (
        <Text size="sm">
          {t("deposit.sum", { count: given.count })}{" "}
          <Amount value={given.amount} currency={currency} />
        </Text>
      )}
      <DataTable
        label={t("deposit.title")}
        query={deposits}
        columns={[
          { name: "at", label: t("journal.at"), cell: (row) => <Moment at={row.created_at} /> },
          {
            name: "amount",
            label: t("journal.amount"),
            cell: ({ amount }) => <Amount value={amount} />,
            isNumber: true
          },
          {
            name: "reference",
            label: t("journal.reference"),
            cell: ({ reference }) => said(reference)
          }
        ]}
      />
    </Stack>
  )
}

type ChargeRow = UsageRow & { readonly member_id: string; readonly cost: string | null }

export const Charges = ({ id, currency }: Props) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const { session } = useSession()
  const { get, set } = useAddressFilters()
  const receiptId = get("receipt")
  const usage = usePages(
    ["books", id, "usage"],
    (after) => (gateway) =>
      gateway.admin.readUsage({ params: { id }, query: { ...after, limit: 50 } })
  )
  const receipt = useAsk(
    ["books", id, "receipt", receiptId],
    (gateway) => gateway.admin.readReceipt({ params: { id, usage_id: receiptId } }),
    { when: receiptId !== "" }
  )
  const columns: ReadonlyArray<Column<ChargeRow>> = [
    ...useUsageColumns(),
    {
      name: "cost",
      label: money("spend.measures.cost"),
      cell: ({ cost }) => (cost === null ? "–" : <Amount value={cost} />),
      isNumber: true
    },
    {
      name: "member",
      label: money("spend.groups.member"),
      cell: ({ member_id }) => <Id id={member_id} />,
      isHidden: true
    },
    {
      name: "receipt",
      label: money("receipt.title"),
      cell: (row) => (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => set({ receipt: row.id })}
          aria-label={`${money("receipt.title")} ${row.id}`}
        >
          {money("receipt.title")}
        </Button>
      )
    }
  ]
  return (
    <>
      <DataTable label={money("usage.title")} columns={columns} query={usage} />
      <ReceiptModal
        query={receipt}
        isOpen={receiptId !== ""}
        onClose={() => set({ receipt: null })}
        more={({ cost, attempts }) => [
          [
            money("spend.measures.cost"),
            cost === null ? "–" : <Amount value={cost} currency={currency} key="cost" />
          ],
          [money("spend.groups.channel"), attempts.map(({ channel }) => channel).join(" → ")]
        ]}
        actions={(shown) =>
          mayAct(session, "finance") ? (
            <AdjustmentButton
              organizationId={id}
              currency={currency}
              usageId={shown.id}
              label={t("adjust.correct")}
            />
          ) : null
        }
      />
    </>
  )
}
