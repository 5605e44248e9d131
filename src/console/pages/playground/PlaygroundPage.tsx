import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const PlaygroundPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.playground")}</Title>
}
export default PlaygroundPage
