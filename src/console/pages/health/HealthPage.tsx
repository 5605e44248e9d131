/** The health of the gateway, and the cases that an operator has to resolve. */
import { Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { HealthOverview } from "./HealthOverview.tsx"
import { OpenHolds } from "./OpenHolds.tsx"
import { OrderCharts } from "./OrderCharts.tsx"
import { OrphanList } from "./OrphanList.tsx"

const HealthPage = () => {
  const { t } = useTranslation()
  const { t: health } = useTranslation("health")
  return (
    <Stack>
      <Title order={1}>{t("pages.health")}</Title>
      <PageTabs
        label={t("pages.health")}
        tabs={[
          { path: "/", label: health("tabs.overview") },
          { path: "/orphans", label: health("tabs.orphans") },
          { path: "/holds", label: health("tabs.holds") },
          { path: "/metrics", label: health("tabs.metrics") }
        ]}
      />
      <Switch>
        <Route path="/orphans">
          <OrphanList />
        </Route>
        <Route path="/holds">
          <OpenHolds />
        </Route>
        <Route path="/metrics">
          <OrderCharts />
        </Route>
        <Route>
          <HealthOverview />
        </Route>
      </Switch>
    </Stack>
  )
}
export default HealthPage
