/** The hold and the charge of an order, with an explanation. */
import { Card, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../../gateway/hooks.tsx"
import { QueryView } from "../../../parts/QueryView.tsx"
import { Amount, Id } from "../../../parts/texts.tsx"
import { MoneyLine } from "../MoneyLine.tsx"
import type { AnswerTrace } from "./usePlaceOrder.ts"

export const ReceiptCard = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("playground")
  const receipt = useApiQuery(["receipt", id], (gateway) =>
    gateway.account.receipt({ params: { id } })
  )
  return (
    <Card withBorder component="section" aria-label={t("receipt")}>
      <Stack gap={6}>
        <Title order={3} size="h5">
          {t("receipt")}
        </Title>
        <QueryView query={receipt}>
          {(answer) => (
            <>
              <MoneyLine label={t("charge")}>
                <Text span fw={600}>
                  <Amount value={answer.charge} currency={answer.currency} />
                </Text>
              </MoneyLine>
              <MoneyLine label={t("held")}>
                <Amount value={answer.hold} currency={answer.currency} />
              </MoneyLine>
              <MoneyLine label={t("difference")}>
                <Amount value={answer.difference} currency={answer.currency} />
              </MoneyLine>
              <MoneyLine label={t("receiptId")}>
                <Id id={answer.id} />
              </MoneyLine>
              <Text size="sm" className="said">
                {answer.explanation}
              </Text>
              <Text size="xs" c="dimmed" className="said">
                {answer.formula}
              </Text>
            </>
          )}
        </QueryView>
      </Stack>
    </Card>
  )
}

const LATEST = 20
const AGAIN_MILLIS = 1500

/**
 * The receipt of an order that is answered at once. Its charge is the oldest one since the order was placed that has the
 * same model and, if they are known, the same token counts.
 */
export const AnswerReceipt = ({ trace }: { readonly trace: AnswerTrace }) => {
  const { t } = useTranslation("playground")
  const { model, before, counts } = trace
  const latest = useApiQuery(
    ["receipt", "latest", trace],
    (gateway) => gateway.account.usage({ query: { limit: LATEST } }),
    { intervalMillis: AGAIN_MILLIS }
  )
  const since = latest.data?.data ?? []
  const at = since.findIndex(({ id }) => id === before)
  const match = (at === -1 ? since : since.slice(0, at)).findLast(
    (charge) =>
      charge.model === model &&
      (counts === null ||
        (charge.input === counts.prompt_tokens && charge.output === counts.completion_tokens))
  )
  if (latest.isError) return <QueryView query={latest}>{() => null}</QueryView>
  return match === undefined ? (
    <Text size="sm" c="dimmed" role="status">
      {t("chargeComes")}
    </Text>
  ) : (
    <ReceiptCard id={match.id} />
  )
}
