/** How much of an amount is charged and held, as a bar and in words. */
import { Progress, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { grouped } from "../texts.tsx"
import { percentOf } from "./decimals.ts"

interface Props {
  /** What the bar is of. */
  readonly label: string
  /** Null is without an end, of which there is no bar. */
  readonly amount: string | null
  readonly charged: string
  readonly held: string
  readonly currency?: string
}

export const SpendBar = ({ label, amount, charged, held, currency = "" }: Props) => {
  const { t } = useTranslation("money")
  const sums = { charged: grouped(charged), held: grouped(held), currency }
  const said =
    amount === null ? t("bar.endless", sums) : t("bar.said", { ...sums, amount: grouped(amount) })
  return (
    <Stack gap={4}>
      {amount === null ? null : (
        <Progress.Root size="lg">
          <Progress.Section
            value={percentOf(charged, amount)}
            color="indigo"
            aria-label={`${label}: ${said}`}
          />
          <Progress.Section
            value={Math.min(percentOf(held, amount), 100 - percentOf(charged, amount))}
            color="orange"
            aria-hidden
            striped
          />
        </Progress.Root>
      )}
      <Text size="sm">{said}</Text>
    </Stack>
  )
}
