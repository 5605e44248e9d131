/** The feature of messages, which clients order in the form of Anthropic's Messages API. */
import { layerMessagesHandlers } from "./messagesHandlers.ts"

/** The HTTP handlers of the feature. */
export const layerHandlers = layerMessagesHandlers
