import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const WebhooksPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.webhooks")}</Title>
}
export default WebhooksPage
