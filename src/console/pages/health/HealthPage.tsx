/** The health of the gateway, and the cases that an operator has to resolve. */
import { Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { PageTabs } from "../../parts/controls/PageTabs.tsx"
import { HealthOverview } from "./HealthOverview.tsx"
import { MetricPlots } from "./MetricPlots.tsx"
import { OpenHolds } from "./OpenHolds.tsx"
import { OrphanList } from "./OrphanList.tsx"
import { useScrapes } from "./scrapes.ts"

const HealthPage = () => {
  const { t } = useTranslation()
  const { t: health } = useTranslation("health")
  const scrapes = useScrapes()
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
          <OpenHolds {...scrapes} />
        </Route>
        <Route path="/metrics">
          <MetricPlots {...scrapes} />
        </Route>
        <Route>
          <HealthOverview {...scrapes} />
        </Route>
      </Switch>
    </Stack>
  )
}
export default HealthPage
