/** The feature of tools for agents, over the Model Context Protocol. */
import { layerMcpHandlers } from "./mcpHandlers.ts"

export { layerOrderQuotes } from "./OrderQuotes.ts"

/** The HTTP handlers of the feature for the version of the gateway; they need the signer of quotes. */
export const layerHandlers = layerMcpHandlers
