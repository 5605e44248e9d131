/** The finance page of operators, for all organisations. */
import { Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { AllSpend } from "./AllSpend.tsx"
import { Costs } from "./Costs.tsx"
import { Reconciliations } from "./reconciliations/ReconciliationPages.tsx"
import { Verify } from "./Verify.tsx"

const BooksPage = () => {
  const { t } = useTranslation("books")
  return (
    <Stack>
      <Title order={1} className="unprinted">
        {t("title")}
      </Title>
      <PageTabs
        label={t("title")}
        tabs={[
          { path: "/", label: t("tabs.spend") },
          { path: "/costs", label: t("tabs.costs") },
          { path: "/reconciliations", label: t("tabs.reconciliations") },
          { path: "/verify", label: t("tabs.verify") }
        ]}
      />
      <Switch>
        <Route path="/costs">
          <Costs />
        </Route>
        <Route path="/reconciliations" nest>
          <Reconciliations />
        </Route>
        <Route path="/verify">
          <Verify />
        </Route>
        <Route>
          <AllSpend />
        </Route>
      </Switch>
    </Stack>
  )
}
export default BooksPage
