/** The hold and the cost of the order in the form, before it is placed. */
import { Skeleton, Stack, Text } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import type { QuoteView } from "../../../../http/api/orders/QuotesApi.ts"
import { useSession } from "../../../gateway/hooks.tsx"
import { Amount } from "../../../parts/texts.tsx"
import { MoneyLine } from "../MoneyLine.tsx"
import type { Order } from "./draft.ts"
import { quotableOrder } from "./quotableOrder.ts"

const PAUSE_MILLIS = 350

export const useQuote = (model: string, order: Order | null) => {
  const { connection } = useSession()
  const [debouncedOrder] = useDebouncedValue(order, PAUSE_MILLIS)
  const quoteOrder = useMemo(
    () => (debouncedOrder === null ? null : quotableOrder(model, debouncedOrder)),
    [model, debouncedOrder]
  )
  const query = useQuery({
    queryKey: ["quote", quoteOrder?.body],
    queryFn: ({ signal }) =>
      connection.send(
        (gateway) => gateway.quotes.quote({ payload: quoteOrder?.body ?? { model } }),
        signal
      ),
    // Until the typing pause is over, the debounced order differs from the one in the form.
    enabled: quoteOrder !== null && debouncedOrder === order,
    placeholderData: keepPreviousData
  })
  return { query, isRough: quoteOrder?.isRough ?? false, isCurrent: debouncedOrder === order }
}

/** The available amounts, and which of them are too small for the order. */
const Affordable = ({ quote }: { readonly quote: QuoteView }) => {
  const { t } = useTranslation("playground")
  const { affordable, currency } = quote
  const lines = [
    { name: "pool", isEnough: affordable.pool, left: affordable.pool_available },
    { name: "cap", isEnough: affordable.cap, left: affordable.cap_available },
    { name: "budget", isEnough: affordable.budget, left: affordable.budget_available }
  ] as const
  return lines.map(({ name, isEnough, left }) =>
    left === null ? null : (
      <MoneyLine key={name} label={t(`left.${name}`)}>
        <Text
          span
          size="sm"
          fw={isEnough ? 400 : 600}
          c={isEnough ? "inherit" : "var(--mantine-color-error)"}
        >
          <Amount value={left} currency={currency} />
          {isEnough ? "" : ` · ${t("tooLittle")}`}
        </Text>
      </MoneyLine>
    )
  )
}

interface Props {
  readonly quote: ReturnType<typeof useQuote>
}

export const QuoteCard = ({ quote: { query, isRough, isCurrent } }: Props) => {
  const { t } = useTranslation("playground")
  const { data } = query
  // A refusal is shown with the errors of the form.
  if (query.isError) return null
  if (data === undefined) return <Skeleton height={72} aria-label={t("quoting")} role="status" />
  const isOld = !isCurrent || query.isPlaceholderData
  return (
    <Stack gap={6} role="group" aria-label={t("quote")} aria-busy={isOld} opacity={isOld ? 0.6 : 1}>
      <MoneyLine label={t("hold")}>
        <Text span fw={600}>
          <Amount value={data.hold} currency={data.currency} />
        </Text>
      </MoneyLine>
      {data.exposure === undefined ? null : (
        <MoneyLine label={t("exposure")}>
          <Amount value={data.exposure} currency={data.currency} />
        </MoneyLine>
      )}
      <MoneyLine label={t("expected")}>
        <Amount value={data.expected_charge} currency={data.currency} />
      </MoneyLine>
      <Text size="xs" c="dimmed" className="said">
        {data.formula}
      </Text>
      {data.exposure === undefined ? null : (
        <Text size="xs" c="dimmed">
          {t("exposureNote")} {t("promise")}
        </Text>
      )}
      <Affordable quote={data} />
      {isRough ? (
        <Text size="xs" c="dimmed">
          {t("rough")}
        </Text>
      ) : null}
    </Stack>
  )
}
