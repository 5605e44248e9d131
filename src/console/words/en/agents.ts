export const agents = {
  lead: "Agents use the gateway's models as tools, by the Model Context Protocol.",
  address: "MCP server",
  connect: "Connect an agent",
  thisKey: "Your key",
  key: "Key",
  budget: "Budget",
  budgets: "Budgets",
  noBudgets: "No budget limits this key",
  budgetsNeedScope: "A key needs the scope usage to read its budgets.",
  amount: "Amount",
  used: "Used",
  available: "Remaining",
  resets: "Resets",
  never: "never",
  agentKeys: "Agent keys",
  agentKeysLead: "Keys with a budget of their own. An agent cannot spend more than its budget.",
  noAgentKeys: "No keys with a budget yet",
  newKey: "New agent key",
  budgetHint: "The most that the key may spend, such as 10",
  periodHint: "When it starts again at zero",
  settingsOf: "Settings for {{name}}",
  copySettings: "Copy settings",
  hints: {
    claudeCode: "Run it in a terminal.",
    claudeDesktop:
      "In claude_desktop_config.json. The command media-gateway must be installed, with Node.js 24.",
    cursor: "In .cursor/mcp.json of a project, or ~/.cursor/mcp.json.",
    visualStudioCode: "In .vscode/mcp.json of a project.",
    agentsSdk: "Needs the package @openai/agents, and OPENAI_API_KEY for its own model.",
    stdio: "For programs that start a process. The command media-gateway must be installed."
  }
} as const
