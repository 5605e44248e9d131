/** The webhook endpoints of the key's organisation. */
import { Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Endpoints } from "./Endpoints.tsx"
import { callsOfKey } from "./hookCalls.ts"

const WebhooksPage = () => {
  const { t } = useTranslation()
  const { t: webhooks } = useTranslation("webhooks")
  return (
    <Stack>
      <Title order={1}>{t("pages.webhooks")}</Title>
      <Endpoints calls={callsOfKey} lead={webhooks("lead")} />
    </Stack>
  )
}
export default WebhooksPage
