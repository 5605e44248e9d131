/** One charge, explained: in a sentence, in figures, and by the entries of the journal. */
import { Code, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { ReceiptView } from "../../../../http/api/AccountApi.ts"
import { RowTable } from "../../../parts/DataTable.tsx"
import { Amount, grouped, Id, Moment } from "../../../parts/texts.tsx"
import { Facts } from "./orderFrame.tsx"

interface Props {
  readonly receipt: ReceiptView
  /** Of an operator's receipt. */
  readonly cost?: string | null
}

export const OrderReceipt = ({ receipt, cost = null }: Props) => {
  const { t } = useTranslation("orders")
  const { currency } = receipt
  const count = (units: number) => (units === 0 ? null : grouped(String(units)))
  return (
    <Stack gap="sm">
      <Text>{receipt.explanation}</Text>
      <Facts
        label={t("receipt.label")}
        facts={{
          [t("receipt.charge")]: <Amount value={receipt.charge} currency={currency} />,
          [t("receipt.hold")]: <Amount value={receipt.hold} currency={currency} />,
          [t("receipt.difference")]: <Amount value={receipt.difference} currency={currency} />,
          [t("receipt.corrected")]:
            receipt.corrected === "0" ? null : (
              <Amount value={receipt.corrected} currency={currency} />
            ),
          [t("receipt.cost")]: cost === null ? null : <Amount value={cost} currency={currency} />,
          [t("receipt.units")]: `${grouped(String(receipt.units))} × ${receipt.unit}`,
          [t("receipt.unitPrice")]: <Amount value={receipt.unit_price} />,
          [t("receipt.inputUnits")]: count(receipt.input_units),
          [t("receipt.basis")]: receipt.basis,
          [t("receipt.resolution")]: receipt.resolution,
          [t("receipt.tier")]: receipt.tier
        }}
      />
      <Text size="sm" fw={500}>
        {t("receipt.formula")}
      </Text>
      <Code block className="said">
        {receipt.formula}
      </Code>
      <Title order={3} size="h5">
        {t("receipt.entries")}
      </Title>
      <RowTable
        label={t("receipt.entries")}
        rows={receipt.entries}
        columns={[
          {
            name: "kind",
            label: t("receipt.entry.kind"),
            cell: ({ kind }) => t(`receipt.entryKinds.${kind}`)
          },
          {
            name: "amount",
            label: t("receipt.entry.amount"),
            isNumber: true,
            cell: ({ amount }) => <Amount value={amount} />
          },
          { name: "debit", label: t("receipt.entry.debit"), cell: ({ debit }) => debit },
          { name: "credit", label: t("receipt.entry.credit"), cell: ({ credit }) => credit },
          { name: "at", label: t("receipt.entry.at"), cell: ({ at }) => <Moment at={at} /> },
          { name: "id", label: t("one.id"), isHidden: true, cell: ({ id }) => <Id id={id} /> }
        ]}
      />
      {receipt.corrections.length === 0 ? null : (
        <>
          <Title order={3} size="h5">
            {t("receipt.corrections")}
          </Title>
          <RowTable
            label={t("receipt.corrections")}
            rows={receipt.corrections}
            columns={[
              {
                name: "amount",
                label: t("receipt.entry.amount"),
                cell: ({ amount }) => <Amount value={amount} />
              },
              { name: "reason", label: t("receipt.reason"), cell: ({ reason }) => reason },
              {
                name: "reference",
                label: t("receipt.reference"),
                cell: ({ reference }) => reference
              },
              { name: "at", label: t("receipt.entry.at"), cell: ({ at }) => <Moment at={at} /> }
            ]}
          />
        </>
      )}
    </Stack>
  )
}
