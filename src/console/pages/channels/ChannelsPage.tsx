import { Title } from "@mantine/core"
import { useTranslation } from "react-i18next"

const ChannelsPage = () => {
  const { t } = useTranslation()
  return <Title order={1}>{t("pages.channels")}</Title>
}
export default ChannelsPage
