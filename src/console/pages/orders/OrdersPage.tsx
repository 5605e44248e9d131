import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const OrdersPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.orders")}</Title>
}
export default OrdersPage
