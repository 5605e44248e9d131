/** The charged and held parts of an amount, as a bar and as text. */
import { Progress, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { groupDigits } from "../texts.tsx"
import { percentOf } from "./decimals.ts"

interface Props {
  /** The label of the bar. */
  readonly label: string
  /** The limit; null where there is none, and then no bar is shown. */
  readonly amount: string | null
  readonly charged: string
  readonly held: string
  readonly currency?: string
}

export const SpendBar = ({ label, amount, charged, held, currency = "" }: Props) => {
  const { t } = useTranslation("money")
  const sums = { charged: groupDigits(charged), held: groupDigits(held), currency }
  const description =
    amount === null
      ? t("bar.endless", sums)
      : t("bar.said", { ...sums, amount: groupDigits(amount) })
  return (
    <Stack gap={4}>
      {amount === null ? null : (
        <Progress.Root size="lg">
          <Progress.Section
            value={percentOf(charged, amount)}
            color="indigo"
            aria-label={`${label}: ${description}`}
          />
          <Progress.Section
            value={Math.min(percentOf(held, amount), 100 - percentOf(charged, amount))}
            color="orange"
            aria-hidden
            striped
          />
        </Progress.Root>
      )}
      <Text size="sm">{description}</Text>
    </Stack>
  )
}
