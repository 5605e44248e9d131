/** The page of operators: their tokens, their webhook endpoints, and the audit log. */
import { Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { Endpoints } from "../webhooks/Endpoints.tsx"
import { callsOfOperator } from "../webhooks/hookCalls.ts"
import { AuditList } from "./AuditList.tsx"
import { OperatorList } from "./OperatorList.tsx"

const OperatorsPage = () => {
  const { t } = useTranslation()
  const { t: accounts } = useTranslation("accounts")
  const { session } = useSession()
  return (
    <Stack>
      <Title order={1}>{t("pages.operators")}</Title>
      <PageTabs
        label={t("pages.operators")}
        tabs={[
          { path: "/", label: accounts("tokens") },
          { path: "/webhooks", label: accounts("webhooks") },
          { path: "/audit", label: accounts("audit") }
        ]}
      />
      <Switch>
        <Route path="/webhooks" nest>
          <Endpoints
            calls={callsOfOperator(null, hasRole(session, "operator"))}
            lead={accounts("ownWebhooksLead")}
          />
        </Route>
        <Route path="/audit">
          <AuditList />
        </Route>
        <Route>
          <OperatorList />
        </Route>
      </Switch>
    </Stack>
  )
}
export default OperatorsPage
