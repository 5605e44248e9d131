import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const CatalogPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.catalog")}</Title>
}
export default CatalogPage
