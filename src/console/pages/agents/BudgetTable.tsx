import { useTranslation } from "react-i18next"
import { type Column, RowTable } from "../../parts/DataTable.tsx"
import { Amount, Timestamp } from "../../parts/texts.tsx"

export interface BudgetRow {
  readonly title: string
  readonly amount: string
  readonly used: string
  readonly available: string
  readonly resets_at: string | null
}

interface Props {
  readonly label: string
  /** The label of the first column. */
  readonly titleLabel: string
  readonly rows: ReadonlyArray<BudgetRow>
  readonly currency: string | undefined
  readonly empty: string
}

/** Budgets with what is used of each, and what is left. */
export const BudgetTable = ({ label, titleLabel, rows, currency, empty }: Props) => {
  const { t } = useTranslation("agents")
  const amounts = ["amount", "used", "available"] as const
  const columns: ReadonlyArray<Column<BudgetRow>> = [
    { name: "title", label: titleLabel, cell: (row) => row.title },
    ...amounts.map((name) => ({
      name,
      label: t(name),
      isNumber: true,
      cell: (row: BudgetRow) => <Amount value={row[name]} currency={currency} />
    })),
    {
      name: "resets",
      label: t("resets"),
      cell: ({ resets_at: at }) => (at === null ? t("never") : <Timestamp at={at} isShort />)
    }
  ]
  return <RowTable label={label} rows={rows} columns={columns} empty={empty} isFixed />
}
