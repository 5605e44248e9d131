/** The webhook endpoints of the key's organisation. */
import { Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { EndpointList } from "./EndpointList.tsx"
import { EndpointPage } from "./EndpointPage.tsx"
import { callsOfKey } from "./hookCalls.ts"

const WebhooksPage = () => {
  const { t } = useTranslation()
  const { t: webhooks } = useTranslation("webhooks")
  return (
    <Stack>
      <Title order={1}>{t("pages.webhooks")}</Title>
      <Switch>
        <Route path="/:id">
          {({ id }) => <EndpointPage calls={callsOfKey} id={id} listAddress="/" />}
        </Route>
        <Route>
          <Text c="dimmed">{webhooks("lead")}</Text>
          <EndpointList calls={callsOfKey} addressOf={(id) => `/${id}`} />
        </Route>
      </Switch>
    </Stack>
  )
}
export default WebhooksPage
