import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const HealthPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.health")}</Title>
}
export default HealthPage
