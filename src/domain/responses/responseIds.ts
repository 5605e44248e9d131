/** The ids of responses, which name the orders that they answer. */
import { orderPrefixes } from "../orderIds.ts"

const PREFIX = "resp_"

/** The id of the response to an order of a text: `resp_` and 32 hexadecimal digits. */
export const responseIdOf = (orderId: string): string =>
  PREFIX + orderId.slice(orderPrefixes.text.length + 1).replaceAll("-", "")

/** The id of the same answer as a message: `msg_` and the same digits. */
export const messageIdOf = (responseId: string): string => `msg_${responseId.slice(PREFIX.length)}`
