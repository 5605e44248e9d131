import type { agents as english } from "../en/agents.ts"
import type { Translated } from "../Translated.ts"

export const agents: Translated<typeof english> = {
  lead: "智能体通过 Model Context Protocol 将网关的模型作为工具使用。",
  address: "MCP 服务器",
  connect: "连接智能体",
  thisKey: "当前密钥",
  key: "密钥",
  budget: "预算",
  budgets: "预算",
  noBudgets: "此密钥没有预算限制",
  budgetsNeedScope: "密钥需要 usage 权限才能查看预算。",
  amount: "金额",
  used: "已用",
  available: "剩余",
  resets: "重置时间",
  never: "永不",
  agentKeys: "智能体密钥",
  agentKeysLead: "有独立预算的密钥。智能体的花费不会超过其预算。",
  noAgentKeys: "还没有带预算的密钥",
  newKey: "新建智能体密钥",
  budgetHint: "此密钥最多可花费的金额，例如 10",
  periodHint: "何时重新从零计算",
  settingsOf: "{{name}} 的配置",
  copySettings: "复制配置",
  hints: {
    claudeCode: "在终端中运行。",
    claudeDesktop: "写入 claude_desktop_config.json。需要已安装 media-gateway 命令和 Node.js 24。",
    cursor: "写入项目的 .cursor/mcp.json 或 ~/.cursor/mcp.json。",
    visualStudioCode: "写入项目的 .vscode/mcp.json。",
    agentsSdk: "需要 @openai/agents 包，其自身的模型需要 OPENAI_API_KEY。",
    stdio: "用于启动进程的程序。需要已安装 media-gateway 命令。"
  }
}
