/**
 * The billing page of a member: its caps and spend, and the monthly statements of its organisation.
 */
import { Card, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { Figures } from "../../parts/money/Figures.tsx"
import { SpendBar } from "../../parts/money/SpendBar.tsx"
import { SpendSeries } from "../../parts/money/SpendSeries.tsx"
import { type StatementSource, Statements } from "../../parts/money/StatementMonths.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Amount } from "../../parts/texts.tsx"
import { UsageList } from "./UsageList.tsx"

const REFRESH_MILLIS = 15_000

const Pool = () => {
  const { t } = useTranslation("money")
  const balance = useApiQuery(["money", "balance"], (gateway) => gateway.account.balance({}), {
    intervalMillis: REFRESH_MILLIS
  })
  return (
    <QueryView query={balance}>
      {({ currency, month, ...pool }) => (
        <Stack gap="sm">
          <Figures
            figures={(["balance", "held", "available"] as const).map((name) => ({
              label: t(`pool.${name}`),
              value: <Amount value={pool[name]} currency={currency} />,
              note: t(`pool.notes.${name}`)
            }))}
          />
          <Card withBorder p="sm">
            <Title order={2} size="h5" mb={6}>
              {t("pool.month")}
            </Title>
            <SpendBar
              label={t("pool.month")}
              amount={month.cap}
              charged={month.used}
              held={month.held}
              currency={currency}
            />
          </Card>
        </Stack>
      )}
    </QueryView>
  )
}

const Spend = () => {
  const { t } = useTranslation("money")
  return (
    <Stack>
      <Pool />
      <Title order={2} size="h4">
        {t("spend.own")}
      </Title>
      <SpendSeries
        area={["money"]}
        groups={["model", "modality", "key", "tag"]}
        call={(query) => (gateway) => gateway.account.series({ query })}
      />
      <Text size="sm" c="dimmed">
        {t("spend.note")}
      </Text>
    </Stack>
  )
}

const source: StatementSource = {
  area: ["money", "statements"],
  path: "/v1/statements",
  list: (after) => (gateway) =>
    gateway.statements.listStatements({ query: { ...after, limit: 24 } }),
  readMonth: (month) => (gateway) => gateway.statements.readStatement({ params: { month } })
}

const MoneyPage = () => {
  const { t } = useTranslation("money")
  return (
    <Stack>
      <Title order={1} className="unprinted">
        {t("title")}
      </Title>
      <PageTabs
        label={t("title")}
        tabs={[
          { path: "/", label: t("tabs.spend") },
          { path: "/usage", label: t("tabs.usage") },
          { path: "/statements", label: t("tabs.statements") }
        ]}
      />
      <Switch>
        <Route path="/usage">
          <UsageList />
        </Route>
        <Route path="/statements" nest>
          <Statements source={source} />
        </Route>
        <Route>
          <Spend />
        </Route>
      </Switch>
    </Stack>
  )
}
export default MoneyPage
