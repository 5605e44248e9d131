/** The spend of all organisations. */
import { Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { SpendSeries } from "../../parts/money/SpendSeries.tsx"
import { useNames } from "../../parts/money/useNames.ts"

export const AllSpend = () => {
  const { t } = useTranslation("money")
  const names = useNames(null)
  return (
    <>
      <SpendSeries
        area={["books", "all"]}
        groups={["model", "modality", "organization", "member", "key", "channel", "tag"]}
        call={(query) => (gateway) => gateway.usageSums.readSeries({ query })}
        nameOf={(_, name) => names.get(name) ?? name}
      />
      <Text size="sm" c="dimmed">
        {t("spend.note")}
      </Text>
    </>
  )
}
