import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const AccessPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.access")}</Title>
}
export default AccessPage
