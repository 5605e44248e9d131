/** The feature of tools for agents, over the Model Context Protocol. */
import { layerMcpHandlers } from "./mcpHandlers.ts"

export { layerOrderQuotes } from "./OrderQuotes.ts"

/** The HTTP handlers of the feature, which need the signer of quotes. */
export const layerHandlers = layerMcpHandlers
