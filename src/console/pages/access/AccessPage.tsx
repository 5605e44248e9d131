/** The page of organisations with their members and keys, operators, webhooks and the audit log. */
import { Alert, Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { AuditList } from "./AuditList.tsx"
import { OperatorList } from "./OperatorList.tsx"
import { OrganizationList } from "./OrganizationList.tsx"
import { OrganizationPage } from "./OrganizationPage.tsx"
import { OwnerWebhooks } from "./OwnerWebhooks.tsx"

const AccessPage = () => {
  const { t } = useTranslation()
  const { t: access } = useTranslation("access")
  const { session } = useSession()
  return (
    <Stack>
      <Title order={1}>{t("pages.access")}</Title>
      <PageTabs
        label={t("pages.access")}
        tabs={[
          { path: "/", label: access("organizations") },
          { path: "/operators", label: access("operators") },
          { path: "/webhooks", label: access("webhooks") },
          { path: "/audit", label: access("audit") }
        ]}
      />
      {hasRole(session, "operator", "finance") ? null : (
        <Alert color="gray" role="status">
          {t("noRight")}
        </Alert>
      )}
      <Switch>
        <Route path="/operators">
          <OperatorList />
        </Route>
        <Route path="/webhooks/:owner" nest>
          {({ owner }) => <OwnerWebhooks owner={owner} />}
        </Route>
        <Route path="/webhooks">
          <OwnerWebhooks owner={null} />
        </Route>
        <Route path="/audit">
          <AuditList />
        </Route>
        <Route path="/organizations/:id">{({ id }) => <OrganizationPage id={id} />}</Route>
        <Route>
          <OrganizationList />
        </Route>
      </Switch>
    </Stack>
  )
}
export default AccessPage
