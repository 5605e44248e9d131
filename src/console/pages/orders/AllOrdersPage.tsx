import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const AllOrdersPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.allOrders")}</Title>
}
export default AllOrdersPage
