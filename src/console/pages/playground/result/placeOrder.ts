/**
 * Places an order with an idempotency key, so that a retry after a lost connection places no second
 * order.
 */
import { request, Unreachable } from "../../../gateway/files.ts"
import type { Session } from "../../../gateway/session.ts"
import type { Order } from "../form/draft.ts"

const REPEATS = 2
const PAUSE_MILLIS = 500

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, PAUSE_MILLIS)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })

export const placeOrder = async (
  session: Session,
  order: Order,
  key: string,
  signal: AbortSignal,
  repeats = REPEATS
): Promise<Response> => {
  const { kind, path, body } = order
  try {
    return await request(session, path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: {
        "content-type": "application/json",
        "idempotency-key": key,
        ...(kind === "image" ? { prefer: "respond-async" } : {})
      },
      signal
    })
  } catch (error) {
    if (!(error instanceof Unreachable) || repeats === 0 || signal.aborted) throw error
    await pause(signal)
    return placeOrder(session, order, key, signal, repeats - 1)
  }
}
