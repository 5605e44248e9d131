/** The price of the order in the form, with its calculation in a popover. */
import { ActionIcon, Group, Popover, Skeleton, Stack, Text } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { IconInfoCircle } from "@tabler/icons-react"
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

const HEIGHT = 44
const MAX_WIDTH = 360

type Limit = "pool" | "cap" | "budget"

/** The amounts that are available for the order. */
const limitsOf = ({ affordable }: QuoteView) =>
  [
    { name: "pool", isEnough: affordable.pool, left: affordable.pool_available },
    { name: "cap", isEnough: affordable.cap, left: affordable.cap_available },
    { name: "budget", isEnough: affordable.budget, left: affordable.budget_available }
  ] satisfies ReadonlyArray<{
    readonly name: Limit
    readonly isEnough: boolean
    readonly left: string | null
  }>

const Details = ({ quote, isRough }: { readonly quote: QuoteView; readonly isRough: boolean }) => {
  const { t } = useTranslation("playground")
  const { currency } = quote
  return (
    <Stack gap={6}>
      <MoneyLine label={t("hold")}>
        <Amount value={quote.hold} currency={currency} />
      </MoneyLine>
      {quote.exposure === undefined ? null : (
        <MoneyLine label={t("exposure")}>
          <Amount value={quote.exposure} currency={currency} />
        </MoneyLine>
      )}
      <MoneyLine label={t("expected")}>
        <Amount value={quote.expected_charge} currency={currency} />
      </MoneyLine>
      {limitsOf(quote).map(({ name, left }) =>
        left === null ? null : (
          <MoneyLine key={name} label={t(`left.${name}`)}>
            <Amount value={left} currency={currency} />
          </MoneyLine>
        )
      )}
      <Text size="xs" c="dimmed" className="said">
        {quote.formula}
      </Text>
      {quote.exposure === undefined ? null : (
        <Text size="xs" c="dimmed">
          {t("exposureNote")} {t("promise")}
        </Text>
      )}
      {isRough ? (
        <Text size="xs" c="dimmed">
          {t("rough")}
        </Text>
      ) : null}
    </Stack>
  )
}

interface Props {
  readonly quote: ReturnType<typeof useQuote>
  /** The model, where the prices of two are shown. */
  readonly model?: string | undefined
}

export const QuoteLine = ({ quote: { query, isRough, isCurrent }, model }: Props) => {
  const { t } = useTranslation("playground")
  const { data } = query
  const label = model === undefined ? t("quote") : t("quoteOf", { model })
  // A refusal is shown with the errors of the form.
  if (query.isError) return null
  if (data === undefined)
    return <Skeleton height={HEIGHT} w={140} aria-label={t("quoting")} role="status" />
  const isOld = !isCurrent || query.isPlaceholderData
  const { currency, exposure, hold } = data
  const tooLow = limitsOf(data).filter(({ isEnough }) => !isEnough)
  return (
    <Stack gap={0} role="group" aria-label={label} aria-busy={isOld} opacity={isOld ? 0.6 : 1}>
      {model === undefined ? null : (
        <Text size="xs" c="dimmed">
          {model}
        </Text>
      )}
      <Group gap={4} wrap="nowrap">
        <Text span fw={650}>
          <Amount value={data.expected_charge} currency={currency} />
        </Text>
        <Popover position="bottom-end" shadow="md" withinPortal>
          <Popover.Target>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={model === undefined ? t("priceDetails") : t("priceDetailsOf", { model })}
            >
              <IconInfoCircle size={16} />
            </ActionIcon>
          </Popover.Target>
          <Popover.Dropdown maw={MAX_WIDTH}>
            <Details quote={data} isRough={isRough} />
          </Popover.Dropdown>
        </Popover>
      </Group>
      <Text size="xs" c="dimmed">
        {t("hold")} <Amount value={hold} currency={currency} />
        {exposure === undefined ? null : (
          <>
            {" · "}
            {t("exposure")} <Amount value={exposure} currency={currency} />
          </>
        )}
      </Text>
      {isRough ? (
        <Text size="xs" c="dimmed">
          {t("roughShort")}
        </Text>
      ) : null}
      {tooLow.map(({ name }) => (
        <Text key={name} size="xs" fw={600} c="var(--mantine-color-error)">
          {t("tooLow", { name: t(`left.${name}`) })}
        </Text>
      ))}
    </Stack>
  )
}
