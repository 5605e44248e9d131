/**
 * Agents: the address of the MCP server, for the holder of a key its permissions and budgets, and
 * for operators the keys that have budgets of their own.
 */
import { Group, Stack, Text, Title } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useSession } from "../../gateway/hooks.tsx"
import { Id } from "../../parts/texts.tsx"
import { AgentKeys } from "./AgentKeys.tsx"
import { OwnAgent } from "./OwnAgent.tsx"
import { mcpAddress } from "./snippets.ts"

const AgentsPage = () => {
  const { t } = useTranslation("agents")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  return (
    <Stack>
      <Title order={1}>{shell("pages.agents")}</Title>
      <Text c="dimmed">{t("lead")}</Text>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {t("address")}
        </Text>
        <Id id={mcpAddress(window.location.origin)} isFull />
      </Group>
      {session.apiKey === null ? null : <OwnAgent />}
      {session.operator === null ? null : <AgentKeys />}
    </Stack>
  )
}
export default AgentsPage
