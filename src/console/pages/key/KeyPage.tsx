/** The API key of this tab: its permissions, its member's budget, and the spend of each key. */
import { Card, Group, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { useHasScopes, useMe } from "../../gateway/me.ts"
import { RowTable } from "../../parts/DataTable.tsx"
import { currentSlot } from "../../parts/money/currentSlot.ts"
import { SpendBar } from "../../parts/money/SpendBar.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Amount, groupDigits, Id } from "../../parts/texts.tsx"
import { KeyFacts } from "./KeyFacts.tsx"

const REFRESH_MILLIS = 15_000

type Key = NonNullable<ReturnType<typeof useMe>["data"]>

/** The monthly cap of the member, which all of its keys share. */
const Budget = () => {
  const { t } = useTranslation("key")
  const balance = useApiQuery(["money", "balance"], (gateway) => gateway.account.balance({}), {
    intervalMillis: REFRESH_MILLIS
  })
  return (
    <Card withBorder p="md" component="section" aria-label={t("budget")}>
      <Title order={2} size="h4" mb="xs">
        {t("budget")}
      </Title>
      <QueryView query={balance}>
        {({ currency, month: { cap, used, held } }) => (
          <SpendBar
            label={t("budget")}
            amount={cap}
            charged={used}
            held={held}
            currency={currency}
          />
        )}
      </QueryView>
    </Card>
  )
}

const KeySpend = ({ apiKey }: { readonly apiKey: Key }) => {
  const { t } = useTranslation("key")
  const series = useApiQuery(
    ["money", "series", "keys"],
    (gateway) =>
      gateway.account.series({ query: { interval: "month", by: "key", ...currentSlot() } }),
    { intervalMillis: REFRESH_MILLIS }
  )
  return (
    <Card withBorder p="md" component="section" aria-label={t("spend")}>
      <Title order={2} size="h4" mb="xs">
        {t("spend")}
      </Title>
      <QueryView query={series}>
        {({ data }) => (
          <RowTable
            label={t("spend")}
            rows={data}
            empty={t("nothing")}
            columns={[
              {
                name: "key",
                label: t("key"),
                cell: ({ key = "" }) => (
                  <Group gap="xs">
                    <Id id={key} />
                    {key === apiKey.id ? (
                      <Text span size="sm">
                        {t("thisKey", { name: apiKey.name })}
                      </Text>
                    ) : null}
                  </Group>
                )
              },
              {
                name: "orders",
                label: t("orders"),
                isNumber: true,
                cell: ({ count, failed }) => (
                  <span className="amount">{groupDigits(String(count + failed))}</span>
                )
              },
              {
                name: "charge",
                label: t("charged"),
                isNumber: true,
                cell: ({ charge, currency }) => <Amount value={charge} currency={currency} />
              }
            ]}
          />
        )}
      </QueryView>
    </Card>
  )
}

const KeyPage = () => {
  const { t } = useTranslation("key")
  const { t: shell } = useTranslation()
  const key = useMe()
  const canReadUsage = useHasScopes("usage")
  return (
    <Stack>
      <Title order={1}>{shell("pages.key")}</Title>
      <Text c="dimmed">{t("lead")}</Text>
      <QueryView query={key}>
        {(apiKey) => (
          <Stack>
            <KeyFacts apiKey={apiKey} />
            {canReadUsage ? (
              <>
                <Budget />
                <KeySpend apiKey={apiKey} />
              </>
            ) : null}
          </Stack>
        )}
      </QueryView>
    </Stack>
  )
}
export default KeyPage
