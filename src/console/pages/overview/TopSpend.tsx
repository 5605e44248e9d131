/** The models and the customers with the highest spend of this month. */
import { Anchor } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import { useApiQuery } from "../../gateway/hooks.tsx"
import type { Column } from "../../parts/DataTable.tsx"
import { currentSlot } from "../../parts/money/currentSlot.ts"
import type { SpendLine } from "../../parts/money/SpendLine.ts"
import { Amount, groupDigits } from "../../parts/texts.tsx"
import { OwnerName } from "../orders/owners.tsx"
import { OverviewCard } from "./OverviewCard.tsx"
import { daysOf } from "./SpendFigures.tsx"
import { OVERVIEW_MILLIS } from "./useChannels.ts"

const MOST_ROWS = 5
/** The time ranges of the spend report that the cards link to. */
const RANGES = ["7d", "12m"] as const

const ordersOf = (line: SpendLine) => {
  const { from, to } = daysOf(line.start, "month")
  return new URLSearchParams({ model: line.model ?? "", from, to }).toString()
}

export const TopSpend = ({ group }: { readonly group: "model" | "organization" }) => {
  const { t } = useTranslation("overview")
  const { t: money } = useTranslation("money")
  const series = useApiQuery(
    ["overview", "series", "month", group],
    (gateway) =>
      gateway.usageSums.readSeries({ query: { interval: "month", by: group, ...currentSlot() } }),
    { intervalMillis: OVERVIEW_MILLIS }
  )
  const name: Column<SpendLine> =
    group === "organization"
      ? {
          name: "name",
          label: t("customer"),
          cell: ({ organization = "" }) => <OwnerName owner="organization" id={organization} />
        }
      : {
          name: "name",
          label: t("model"),
          cell: (line) => (
            <Anchor component={Link} href={`~/console/all-orders?${ordersOf(line)}`} size="sm">
              {line.model}
            </Anchor>
          )
        }
  return (
    <OverviewCard
      title={t(group === "model" ? "topModels" : "topCustomers")}
      links={RANGES.map((range) => ({
        label: money(`spend.ranges.${range}`),
        href: `~/console/books?range=${range}&by=${group}`
      }))}
      query={series}
      rowsOf={({ data }) =>
        [...data]
          .toSorted((line, other) => Number(other.charge) - Number(line.charge))
          .slice(0, MOST_ROWS)
      }
      idOf={(line) => line[group] ?? ""}
      columns={[
        name,
        {
          name: "orders",
          label: t("orders"),
          isNumber: true,
          cell: ({ count, failed }) => (
            <span className="amount">{groupDigits(String(count + failed))}</span>
          )
        },
        {
          name: "charged",
          label: t("charged"),
          isNumber: true,
          cell: ({ charge, currency }) => <Amount value={charge} currency={currency} />
        }
      ]}
      empty={t("nothingOrdered")}
    />
  )
}
