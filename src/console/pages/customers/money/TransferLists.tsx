/** The deposits, adjustments and charges of one organisation; charges can be corrected here. */
import { Button, Stack, Text, Title } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { AdjustmentView } from "../../../../features/transfers/MoneyApi.ts"
import { useApiQuery, usePages, useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { useAddressFilters } from "../../../parts/addressFilters.ts"
import { type Column, DataTable } from "../../../parts/DataTable.tsx"
import { ReceiptModal } from "../../../parts/money/Receipt.tsx"
import { type UsageRow, useUsageColumns } from "../../../parts/money/usageColumns.tsx"
import { Amount, groupDigits, Id, Timestamp } from "../../../parts/texts.tsx"
import { AdjustmentButton } from "./TransferForms.tsx"

interface Props {
  readonly id: string
  readonly currency: string
}

const totals = { totals: "true" as const }
const renderText = (text: string): ReactNode => <span className="said">{text}</span>

export const Transfers = ({ id, currency }: Props) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
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
  const depositTotals = deposits.data?.pages[0]?.totals
  const adjustmentTotals = adjustments.data?.pages[0]?.totals ?? []
  const adjustmentColumns: ReadonlyArray<Column<typeof AdjustmentView.Type>> = [
    { name: "at", label: t("journal.at"), cell: (row) => <Timestamp at={row.created_at} /> },
    { name: "kind", label: t("journal.kind"), cell: ({ kind }) => money(`kinds.${kind}`) },
    {
      name: "amount",
      label: t("journal.amount"),
      cell: ({ amount }) => <Amount value={amount} />,
      isNumber: true
    },
    { name: "reason", label: t("journal.reason"), cell: ({ reason }) => renderText(reason) },
    { name: "author", label: t("journal.author"), cell: ({ author }) => renderText(author) },
    {
      name: "reference",
      label: t("journal.reference"),
      cell: ({ reference }) => renderText(reference)
    },
    {
      name: "usage",
      label: t("adjust.usage"),
      cell: ({ usage_id }) => (usage_id === null ? "" : <Id id={usage_id} />)
    }
  ]
  return (
    <Stack>
      <Title order={3} size="h4">
        {t("adjust.title")}
      </Title>
      {adjustmentTotals.length === 0 ? null : (
        <Text size="sm">
          {adjustmentTotals
            .map(({ kind, count, amount }) =>
              t("adjust.sum", { kind: money(`kinds.${kind}`), count, amount: groupDigits(amount) })
            )
            .join(" · ")}{" "}
          {currency}
        </Text>
      )}
      <DataTable label={t("adjust.title")} columns={adjustmentColumns} query={adjustments} />
      <Title order={3} size="h4">
        {t("deposit.title")}
      </Title>
      {depositTotals === undefined ? null : (
        <Text size="sm">
          {t("deposit.sum", { count: depositTotals.count })}{" "}
          <Amount value={depositTotals.amount} currency={currency} />
        </Text>
      )}
      <DataTable
        label={t("deposit.title")}
        query={deposits}
        columns={[
          { name: "at", label: t("journal.at"), cell: (row) => <Timestamp at={row.created_at} /> },
          {
            name: "amount",
            label: t("journal.amount"),
            cell: ({ amount }) => <Amount value={amount} />,
            isNumber: true
          },
          {
            name: "reference",
            label: t("journal.reference"),
            cell: ({ reference }) => renderText(reference)
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
  const receipt = useApiQuery(
    ["books", id, "receipt", receiptId],
    (gateway) => gateway.admin.readReceipt({ params: { id, usage_id: receiptId } }),
    { isEnabled: receiptId !== "" }
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
        extraFacts={({ cost, attempts }) => [
          [
            money("spend.measures.cost"),
            cost === null ? "–" : <Amount value={cost} currency={currency} key="cost" />
          ],
          [money("spend.groups.channel"), attempts.map(({ channel }) => channel).join(" → ")]
        ]}
        actions={(deposit) =>
          hasRole(session, "finance") ? (
            <AdjustmentButton
              organizationId={id}
              currency={currency}
              usageId={deposit.id}
              label={t("adjust.correct")}
            />
          ) : null
        }
      />
    </>
  )
}
