/** What the API key of this tab is, and what it may do. */
import { Badge, Card, Group } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { useMe } from "../../gateway/me.ts"
import { Facts } from "../../parts/controls/Facts.tsx"
import { groupDigits, Id, Timestamp } from "../../parts/texts.tsx"

type Key = NonNullable<ReturnType<typeof useMe>["data"]>

const Badges = ({ names }: { readonly names: ReadonlyArray<string> }) => (
  <Group gap={4} component="span">
    {names.map((name) => (
      <Badge key={name} variant="default" tt="none" component="span">
        {name}
      </Badge>
    ))}
  </Group>
)

export const KeyFacts = ({ apiKey }: { readonly apiKey: Key }) => {
  const { t } = useTranslation("key")
  const { t: accounts } = useTranslation("accounts")
  const { models, requests_per_minute: rate } = apiKey
  return (
    <Card withBorder p="md">
      <Facts
        facts={[
          { name: t("name"), value: apiKey.name },
          { name: t("id"), value: <Id id={apiKey.id} /> },
          { name: t("member"), value: apiKey.member_name },
          { name: t("organization"), value: apiKey.organization_name },
          { name: accounts("scopes"), value: <Badges names={apiKey.scopes} /> },
          {
            name: accounts("models"),
            value: models === null ? accounts("allModels") : <Badges names={models} />
          },
          {
            name: accounts("rate"),
            value: rate === null ? accounts("usual") : groupDigits(String(rate))
          },
          {
            name: accounts("expires"),
            value: apiKey.expires_at === null ? t("never") : <Timestamp at={apiKey.expires_at} />
          }
        ]}
      />
    </Card>
  )
}
