import { useTranslation } from "react-i18next"
import { CodeTabs } from "../../parts/controls/CodeTabs.tsx"
import { type AgentProgram, snippetOf } from "./snippets.ts"

const names: Readonly<Record<AgentProgram, string>> = {
  claudeCode: "Claude Code",
  claudeDesktop: "Claude Desktop",
  cursor: "Cursor",
  visualStudioCode: "VS Code",
  agentsSdk: "OpenAI Agents SDK",
  stdio: "stdio"
}

/** How the programs of agents are connected, with the key or with its variable. */
export const AgentSnippets = ({ apiKey }: { readonly apiKey: string | null }) => {
  const { t } = useTranslation("agents")
  const tabOf = (program: AgentProgram) => ({
    name: names[program],
    code: snippetOf(program, { origin: window.location.origin, apiKey }),
    hint: t(`hints.${program}`)
  })
  return (
    <CodeTabs
      labelOf={(name) => t("settingsOf", { name })}
      copyLabel={t("copySettings")}
      tabs={[
        tabOf("claudeCode"),
        tabOf("claudeDesktop"),
        tabOf("cursor"),
        tabOf("visualStudioCode"),
        tabOf("agentsSdk"),
        tabOf("stdio")
      ]}
    />
  )
}
