/** What operators see first: the money of today and this month, and what needs their attention. */
import { SimpleGrid, Stack, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { SpendFigures } from "./SpendFigures.tsx"
import { TopSpend } from "./TopSpend.tsx"
import { Channels, LowBalances, NearBudgets, Orphans } from "./Troubles.tsx"

const OverviewPage = () => {
  const { t } = useTranslation()
  return (
    <Stack>
      <Title order={1}>{t("pages.overview")}</Title>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <SpendFigures interval="day" />
        <SpendFigures interval="month" />
        <Channels />
        <Orphans />
        <LowBalances />
        <NearBudgets />
        <TopSpend group="model" />
        <TopSpend group="organization" />
      </SimpleGrid>
    </Stack>
  )
}
export default OverviewPage
