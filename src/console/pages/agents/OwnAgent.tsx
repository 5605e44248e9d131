/** The key of this tab for agents: what it may do, what it may still spend, and how it connects. */
import { Card, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { useHasScopes, useMe } from "../../gateway/me.ts"
import { QueryView } from "../../parts/QueryView.tsx"
import { KeyFacts } from "../key/KeyFacts.tsx"
import { AgentSnippets } from "./AgentSnippets.tsx"
import { BudgetTable } from "./BudgetTable.tsx"

const REFRESH_MILLIS = 15_000

const OwnBudgets = () => {
  const { t } = useTranslation("agents")
  const { t: books } = useTranslation("books")
  const balance = useApiQuery(["money", "balance"], (gateway) => gateway.account.balance({}), {
    intervalMillis: REFRESH_MILLIS
  })
  return (
    <QueryView query={balance}>
      {({ budgets, currency }) => (
        <BudgetTable
          label={t("budgets")}
          titleLabel={t("budget")}
          currency={currency}
          empty={t("noBudgets")}
          rows={budgets.map((budget) => ({
            ...budget,
            title: `${books(`budgets.scopes.${budget.scope}`)} · ${
              budget.is_member_cap
                ? books("budgets.cap")
                : books(`budgets.periods.${budget.period}`)
            }`
          }))}
        />
      )}
    </QueryView>
  )
}

export const OwnAgent = () => {
  const { t } = useTranslation("agents")
  const key = useMe()
  const canReadUsage = useHasScopes("usage")
  return (
    <>
      <Card withBorder p="md" component="section" aria-label={t("connect")}>
        <Title order={2} size="h4" mb="xs">
          {t("connect")}
        </Title>
        <AgentSnippets apiKey={null} />
      </Card>
      <Stack gap="xs" component="section" aria-label={t("thisKey")}>
        <Title order={2} size="h4">
          {t("thisKey")}
        </Title>
        <QueryView query={key}>{(apiKey) => <KeyFacts apiKey={apiKey} />}</QueryView>
      </Stack>
      <Card withBorder p="md" component="section" aria-label={t("budgets")}>
        <Title order={2} size="h4" mb="xs">
          {t("budgets")}
        </Title>
        {canReadUsage ? <OwnBudgets /> : <Text c="dimmed">{t("budgetsNeedScope")}</Text>}
      </Card>
    </>
  )
}
