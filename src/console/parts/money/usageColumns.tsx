/** The columns of a list of charges. */
import { useTranslation } from "react-i18next"
import type { UsageEntry } from "../../../http/api/shared.ts"
import type { Column } from "../DataTable.tsx"
import { Amount, groupDigits, Id, Timestamp } from "../texts.tsx"

export type UsageRow = typeof UsageEntry.Type

export const useUsageColumns = (): ReadonlyArray<Column<UsageRow>> => {
  const { t } = useTranslation("money")
  return [
    { name: "at", label: t("usage.at"), cell: (row) => <Timestamp at={row.created_at} /> },
    { name: "month", label: t("usage.month"), cell: ({ month }) => month, isHidden: true },
    { name: "model", label: t("usage.model"), cell: ({ model }) => model },
    {
      name: "units",
      label: t("spend.units"),
      cell: ({ input, output, unit }) =>
        `${input > 0 ? `${groupDigits(String(input))} + ` : ""}${groupDigits(String(output))} ${t("spend.unit", { context: unit })}`,
      isNumber: true
    },
    {
      name: "price",
      label: t("usage.unitPrice"),
      cell: ({ unit_price }) => <Amount value={unit_price} />,
      isNumber: true
    },
    {
      name: "charge",
      label: t("spend.measures.charge"),
      cell: ({ charge }) => <Amount value={charge} />,
      isNumber: true
    },
    {
      name: "tags",
      label: t("usage.tags"),
      cell: ({ metadata }) => (
        <span className="said">
          {Object.entries(metadata)
            .map(([name, value]) => `${name}=${value}`)
            .join(", ")}
        </span>
      )
    },
    { name: "id", label: t("receipt.id"), cell: ({ id }) => <Id id={id} />, isHidden: true }
  ]
}
