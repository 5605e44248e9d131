import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const BooksPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.books")}</Title>
}
export default BooksPage
