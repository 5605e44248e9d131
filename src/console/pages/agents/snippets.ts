/**
 * The connection to the gateway's MCP server as programs of agents take it: commands, files of
 * settings and code. Programs that read variables get the name of the key's variable, all others
 * the key itself.
 */
import { shell } from "../../parts/shellText.ts"

export interface AgentConnection {
  /** The gateway's address, without a trailing slash. */
  readonly origin: string
  /** The key; null where it is not shown, and then its variable or a placeholder stands for it. */
  readonly apiKey: string | null
}

const NAME = "media-gateway"
const KEY_VARIABLE = "GATEWAY_KEY"
const KEY_PLACEHOLDER = "mg_..."

export const mcpAddress = (origin: string): string => `${origin}/mcp`

const json = (value: unknown): string => JSON.stringify(value, null, 2)

const claudeCode = ({ origin, apiKey }: AgentConnection): string => {
  const header =
    apiKey === null
      ? `"Authorization: Bearer $${KEY_VARIABLE}"`
      : shell(`Authorization: Bearer ${apiKey}`)
  return `claude mcp add --transport http ${NAME} ${shell(mcpAddress(origin))} \\
  --header ${header}`
}

/** The process that speaks MCP over its standard input and output. */
const stdioServer = ({ origin, apiKey }: AgentConnection) => ({
  command: NAME,
  args: ["mcp"],
  env: { GATEWAY_URL: origin, [KEY_VARIABLE]: apiKey ?? KEY_PLACEHOLDER }
})

const claudeDesktop = (connection: AgentConnection): string =>
  json({ mcpServers: { [NAME]: stdioServer(connection) } })

const httpServer = ({ origin, apiKey }: AgentConnection, keyReference: string) => ({
  url: mcpAddress(origin),
  headers: { Authorization: `Bearer ${apiKey ?? keyReference}` }
})

const cursor = (connection: AgentConnection): string =>
  json({ mcpServers: { [NAME]: httpServer(connection, `\${env:${KEY_VARIABLE}}`) } })

const visualStudioCode = (connection: AgentConnection): string =>
  json({
    ...(connection.apiKey === null
      ? {
          inputs: [{ type: "promptString", id: "key", description: `${NAME} key`, password: true }]
        }
      : {}),
    servers: { [NAME]: { type: "http", ...httpServer(connection, `\${input:key}`) } }
  })

const agentsSdk = ({ origin, apiKey }: AgentConnection): string => {
  const authorization =
    apiKey === null
      ? `\`Bearer \${process.env.${KEY_VARIABLE}}\``
      : JSON.stringify(`Bearer ${apiKey}`)
  return `import { Agent, MCPServerStreamableHttp, run } from "@openai/agents"

const gateway = new MCPServerStreamableHttp({
  name: "${NAME}",
  url: ${JSON.stringify(mcpAddress(origin))},
  requestInit: { headers: { authorization: ${authorization} } }
})
await gateway.connect()
try {
  const agent = new Agent({ name: "Illustrator", mcpServers: [gateway] })
  const { finalOutput } = await run(agent, "Make an image of a lighthouse at dusk")
  console.log(finalOutput)
} finally {
  await gateway.close()
}`
}

const stdio = ({ origin, apiKey }: AgentConnection): string =>
  [
    `export GATEWAY_URL=${shell(origin)}`,
    `export ${KEY_VARIABLE}=${apiKey === null ? KEY_PLACEHOLDER : shell(apiKey)}`,
    `${NAME} mcp`
  ].join("\n")

const writers = { claudeCode, claudeDesktop, cursor, visualStudioCode, agentsSdk, stdio } as const
export type AgentProgram = keyof typeof writers

export const snippetOf = (program: AgentProgram, connection: AgentConnection): string =>
  writers[program](connection)
