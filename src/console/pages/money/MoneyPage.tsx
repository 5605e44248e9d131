import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const MoneyPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.money")}</Title>
}
export default MoneyPage
