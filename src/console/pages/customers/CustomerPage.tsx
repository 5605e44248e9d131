/** The page of one organisation; each tab has its own address. */
import { Alert, Group, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch, useRoute } from "wouter"
import type { OrganizationView } from "../../../features/accounts/AccountsApi.ts"
import { useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { BackLink } from "../../parts/controls/BackLink.tsx"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { type StatementSource, Statements } from "../../parts/money/StatementMonths.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { AllOrderList } from "../orders/AllOrderList.tsx"
import { OrderTimeline } from "../orders/details/OrderTimeline.tsx"
import { Endpoints } from "../webhooks/Endpoints.tsx"
import { callsOfOperator } from "../webhooks/hookCalls.ts"
import { organizationsKey } from "./accountKeys.ts"
import { CustomerOverview } from "./CustomerOverview.tsx"
import { EnabledBadge } from "./EnabledBadge.tsx"
import { KeyList } from "./KeyList.tsx"
import { MemberList } from "./MemberList.tsx"
import { Budgets } from "./money/BudgetCards.tsx"
import { LowBalance } from "./money/LowBalance.tsx"
import { Money } from "./money/Money.tsx"

type Organization = typeof OrganizationView.Type
const REFRESH_MILLIS = 15_000

const sourceOf = (id: string): StatementSource => ({
  area: ["books", id, "statements"],
  path: `/admin/v1/organizations/${encodeURIComponent(id)}/statements`,
  list: (after) => (gateway) =>
    gateway.operatorStatements.listOrganizationStatements({
      params: { id },
      query: { ...after, limit: 24 }
    }),
  readMonth: (month) => (gateway) =>
    gateway.operatorStatements.readOrganizationStatement({ params: { id, month } })
})

const Head = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("accounts")
  return (
    <Stack gap="xs" className="unprinted">
      <BackLink href="~/console/customers" label={t("toCustomers")} />
      <Group gap="sm">
        <Title order={1} className="said">
          {organization.name}
        </Title>
        <EnabledBadge isEnabled={organization.enabled} />
      </Group>
      {organization.stopped_reason === null ? null : (
        <Alert
          color="red"
          role="alert"
          title={
            <Text span inherit c="var(--mantine-color-text)">
              {t("stopped")}
            </Text>
          }
        >
          <Text size="sm" className="said">
            {organization.stopped_reason}
          </Text>
        </Alert>
      )}
      <PageTabs
        label={organization.name}
        tabs={[
          { path: "/", label: t("tabs.overview") },
          ...(
            [
              ...(["members", "keys", "money", "budgets"] as const),
              ...(["statements", "webhooks", "orders"] as const)
            ] as const
          ).map((tab) => ({ path: `/${tab}`, label: t(`tabs.${tab}`) }))
        ]}
      />
    </Stack>
  )
}

const Tabs = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("accounts")
  const { session } = useSession()
  const { id, currency } = organization
  return (
    <Switch>
      <Route path="/members">
        <MemberList organizationId={id} currency={currency} />
      </Route>
      <Route path="/keys">
        <KeyList organizationId={id} />
      </Route>
      <Route path="/money" nest>
        <Money id={id} currency={currency} />
      </Route>
      <Route path="/budgets">
        <Budgets id={id} currency={currency} />
        {hasRole(session, "finance") ? <LowBalance organization={organization} /> : null}
      </Route>
      <Route path="/statements" nest>
        <Statements source={sourceOf(id)} />
      </Route>
      <Route path="/webhooks" nest>
        <Endpoints
          calls={callsOfOperator(id, hasRole(session, "operator"))}
          lead={t("webhooksLead")}
        />
      </Route>
      <Route path="/orders" nest>
        <AllOrderList organizationId={id} />
      </Route>
      <Route>
        <CustomerOverview organization={organization} />
      </Route>
    </Switch>
  )
}

export const CustomerPage = ({ id }: { readonly id: string }) => {
  const organization = useApiQuery(
    [...organizationsKey, "one", id],
    (gateway) => gateway.accounts.readOrganization({ params: { id } }),
    { intervalMillis: REFRESH_MILLIS }
  )
  const [isOrder, order] = useRoute("/orders/:order")
  if (isOrder) {
    return (
      <Route path="/orders" nest>
        <OrderTimeline key={order.order} id={order.order} />
      </Route>
    )
  }
  return (
    <QueryView query={organization} lines={6}>
      {(answer) => (
        <Stack>
          <Head organization={answer} />
          <Tabs organization={answer} />
        </Stack>
      )}
    </QueryView>
  )
}
