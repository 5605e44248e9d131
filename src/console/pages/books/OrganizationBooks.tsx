/** The finances of one organisation; each tab has its own address. */
import { Badge, Button, Card, Group, Stack, TextInput, Title } from "@mantine/core"
import { useForm } from "@mantine/form"
import { notifications } from "@mantine/notifications"
import { useTranslation } from "react-i18next"
import { Route, Switch, useParams } from "wouter"
import type { OrganizationView } from "../../../features/accounts/AccountsApi.ts"
import { useApiMutation, useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { typedNano } from "../../parts/money/amountFields.ts"
import { Figures } from "../../parts/money/Figures.tsx"
import { SpendSeries } from "../../parts/money/SpendSeries.tsx"
import { type StatementSource, Statements } from "../../parts/money/StatementMonths.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Amount, Id } from "../../parts/texts.tsx"
import { BalanceOverTime } from "./BalanceOverTime.tsx"
import { Budgets } from "./BudgetCards.tsx"
import { useNames } from "./names.ts"
import { Charges, Transfers } from "./TransferLists.tsx"

type Organization = typeof OrganizationView.Type
const REFRESH_MILLIS = 15_000

const LowBalance = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { id, low_balance, currency } = organization
  const form = useForm({
    initialValues: { threshold: low_balance ?? "" },
    validate: {
      threshold: (text) =>
        text.trim() === "" || typedNano(text) !== null ? null : t("form.noAmountOrZero")
    }
  })
  const save = useApiMutation(
    ({ threshold }: typeof form.values) =>
      (gateway) =>
        gateway.admin.setLowBalance({
          params: { id },
          payload: { threshold: threshold.trim() === "" ? null : typedNano(threshold) }
        }),
    [["books", id], ["organizations"]]
  )
  return (
    <Card
      component="form"
      withBorder
      p="sm"
      onSubmit={form.onSubmit((values) =>
        save.mutate(values, { onSuccess: () => notifications.show({ message: t("low.done") }) })
      )}
      noValidate
    >
      <Stack gap="xs">
        <TextInput
          label={t("low.label", { currency })}
          description={t("low.note")}
          inputMode="decimal"
          maw={420}
          {...form.getInputProps("threshold")}
        />
        {save.error === null ? null : <FailureNote error={save.error} />}
        <Group>
          <Button type="submit" variant="default" size="xs" loading={save.isPending}>
            {shell("save")}
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

const Head = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("books")
  const { currency, low_balance } = organization
  return (
    <Stack gap="sm" className="unprinted">
      <Group gap="xs">
        <Title order={2}>{organization.name}</Title>
        {organization.enabled ? null : <Badge variant="default">{t("disabled")}</Badge>}
      </Group>
      <Id id={organization.id} />
      {organization.stopped_reason === null ? null : (
        <FailureNote error={new Error(`${t("stopped")} ${organization.stopped_reason}`)} />
      )}
      <Figures
        figures={[
          ...(["balance", "held", "available"] as const).map((name) => ({
            label: t(`pool.${name}`),
            value: <Amount value={organization[name]} currency={currency} />
          })),
          {
            label: t("low.short"),
            value: low_balance === null ? "–" : <Amount value={low_balance} currency={currency} />
          }
        ]}
      />
    </Stack>
  )
}

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

const Spend = ({ id }: { readonly id: string }) => {
  const names = useNames(id)
  return (
    <SpendSeries
      area={["books", id]}
      groups={["model", "modality", "member", "key", "channel", "tag"]}
      call={(query) => (gateway) =>
        gateway.usageSums.readSeries({ query: { ...query, organization_id: id } })
      }
      nameOf={(_, name) => names.get(name) ?? name}
    />
  )
}

export const OrganizationBooks = () => {
  const { t } = useTranslation("books")
  const { session } = useSession()
  const { id = "" } = useParams<{ id: string }>()
  const organization = useApiQuery(
    ["books", id, "organization"],
    (gateway) => gateway.accounts.readOrganization({ params: { id } }),
    { intervalMillis: REFRESH_MILLIS }
  )
  return (
    <QueryView query={organization} lines={6}>
      {(answer) => (
        <Stack>
          <Head organization={answer} />
          <PageTabs
            label={answer.name}
            isInner
            tabs={[
              { path: "/", label: t("tabs.pool") },
              { path: "/spend", label: t("tabs.spend") },
              { path: "/charges", label: t("tabs.charges") },
              { path: "/transfers", label: t("tabs.transfers") },
              { path: "/budgets", label: t("tabs.budgets") },
              { path: "/statements", label: t("tabs.statements") }
            ]}
          />
          <Switch>
            <Route path="/spend">
              <Spend id={id} />
            </Route>
            <Route path="/charges">
              <Charges id={id} currency={answer.currency} />
            </Route>
            <Route path="/transfers">
              <Transfers id={id} currency={answer.currency} />
            </Route>
            <Route path="/budgets">
              <Stack>
                <Budgets id={id} currency={answer.currency} />
                {hasRole(session, "finance") ? <LowBalance organization={answer} /> : null}
              </Stack>
            </Route>
            <Route path="/statements" nest>
              <Statements source={sourceOf(id)} />
            </Route>
            <Route>
              <BalanceOverTime id={id} />
            </Route>
          </Switch>
        </Stack>
      )}
    </QueryView>
  )
}
