/** The receipt of one charge: the hold, the charge with its reason, and its journal entries. */
import { Group, Modal, Stack, Table, Text, Title } from "@mantine/core"
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { ReceiptView } from "../../../http/api/receipts.ts"
import { RowTable } from "../DataTable.tsx"
import { QueryView } from "../QueryView.tsx"
import { Amount, groupDigits, Id, Timestamp } from "../texts.tsx"
import { chargeLinesOf } from "./chargeLines.ts"
import { Figures } from "./Figures.tsx"

const Facts = ({
  label,
  facts
}: {
  readonly label: string
  readonly facts: ReadonlyArray<Fact>
}) => (
  <Table aria-label={label} verticalSpacing={4}>
    <Table.Tbody>
      {facts.map(([name, value]) => (
        <Table.Tr key={name}>
          <Table.Th scope="row" w={170}>
            {name}
          </Table.Th>
          <Table.Td>{value}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)

type Fact = readonly [string, ReactNode]

const ChargeLines = ({ receipt }: { readonly receipt: ReceiptView }) => {
  const { t } = useTranslation("money")
  const { currency } = receipt
  return (
    <RowTable
      label={t("receipt.lines.title")}
      rows={chargeLinesOf(receipt)}
      columns={[
        {
          name: "kind",
          label: t("receipt.lines.item"),
          cell: ({ kind }) => t(`receipt.lines.${kind}`)
        },
        {
          name: "units",
          label: t("spend.units"),
          isNumber: true,
          cell: ({ units }) => groupDigits(`${units}`)
        },
        {
          name: "unitPrice",
          label: t("usage.unitPrice"),
          isNumber: true,
          cell: ({ kind, unitPrice }) =>
            kind === "reference"
              ? unitPrice
              : t("receipt.perUnit", { context: receipt.unit, price: unitPrice })
        },
        {
          name: "amount",
          label: t("statements.moved.amount"),
          isNumber: true,
          cell: ({ amount }) =>
            amount === null ? null : <Amount value={amount} currency={currency} />
        }
      ]}
    />
  )
}

export const Receipt = ({
  receipt,
  extraFacts = []
}: {
  readonly receipt: ReceiptView
  /** Additional facts about the charge. */
  readonly extraFacts?: ReadonlyArray<Fact>
}) => {
  const { t } = useTranslation("money")
  const { currency } = receipt
  const sums = (["hold", "charge", "difference", "corrected"] as const).map((name) => ({
    label: t(`receipt.${name}`),
    value: <Amount value={receipt[name]} currency={currency} />
  }))
  return (
    <Stack>
      <Figures figures={sums} />
      <Text className="said">{receipt.explanation}</Text>
      <Facts
        label={t("receipt.facts")}
        facts={[
          [t("usage.model"), receipt.model],
          [
            t("receipt.formula"),
            <span className="said" key="formula">
              {receipt.formula}
            </span>
          ],
          ...(receipt.exposure === undefined
            ? []
            : ([
                [
                  t("receipt.exposure"),
                  <Amount value={receipt.exposure} currency={currency} key="exposure" />
                ]
              ] as const)),
          [
            t("receipt.basis"),
            t("receipt.basisOf", { context: receipt.basis, basis: receipt.basis })
          ],
          ...(receipt.resolution === undefined
            ? []
            : ([[t("receipt.resolution"), receipt.resolution]] as const)),
          ...Object.entries(receipt.metadata).map(([name, value]) => [`# ${name}`, value] as const),
          ...extraFacts,
          [t("usage.at"), <Timestamp at={receipt.created_at} key="at" />],
          [t("receipt.id"), <Id id={receipt.id} key="id" />]
        ]}
      />
      <Title order={3} size="h5">
        {t("receipt.lines.title")}
      </Title>
      <ChargeLines receipt={receipt} />
      <Title order={3} size="h5">
        {t("receipt.entries")}
      </Title>
      <RowTable
        label={t("receipt.entries")}
        rows={receipt.entries}
        columns={[
          { name: "at", label: t("usage.at"), cell: ({ at }) => <Timestamp at={at} /> },
          {
            name: "kind",
            label: t("statements.moved.kind"),
            cell: ({ kind }) => t(`kinds.${kind}`)
          },
          {
            name: "accounts",
            label: t("receipt.accounts"),
            cell: ({ debit, credit }) => `${debit} → ${credit}`
          },
          {
            name: "amount",
            label: t("statements.moved.amount"),
            cell: ({ amount }) => <Amount value={amount} />,
            isNumber: true
          }
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
              { name: "at", label: t("usage.at"), cell: ({ at }) => <Timestamp at={at} /> },
              {
                name: "reason",
                label: t("statements.moved.reason"),
                cell: ({ reason }) => <span className="said">{reason}</span>
              },
              {
                name: "reference",
                label: t("statements.moved.reference"),
                cell: ({ reference }) => <span className="said">{reference}</span>
              },
              {
                name: "amount",
                label: t("statements.moved.amount"),
                cell: ({ amount }) => <Amount value={amount} />,
                isNumber: true
              }
            ]}
          />
        </>
      )}
    </Stack>
  )
}

interface ModalProps<R extends ReceiptView> {
  readonly query: UseQueryResult<R>
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly actions?: (receipt: R) => ReactNode
  readonly extraFacts?: (receipt: R) => ReadonlyArray<Fact>
}

export const ReceiptModal = <R extends ReceiptView>({
  query,
  isOpen,
  onClose,
  actions,
  extraFacts = () => []
}: ModalProps<R>) => {
  const { t } = useTranslation("money")
  const { t: shell } = useTranslation()
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t("receipt.title")}
      size="xl"
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <QueryView query={query} lines={8}>
        {(receipt) => (
          <Stack>
            <Receipt receipt={receipt} extraFacts={extraFacts(receipt)} />
            {actions === undefined ? null : <Group>{actions(receipt)}</Group>}
          </Stack>
        )}
      </QueryView>
    </Modal>
  )
}
