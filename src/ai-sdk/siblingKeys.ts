/**
 * Idempotency keys of orders that the AI SDK makes from one call. The SDK splits a call for more
 * images than one order allows into several orders, all with the caller's `Idempotency-Key`. Each
 * order needs a different key, and its retries need the same key again.
 */

type Headers = Record<string, string | undefined>

interface Order {
  readonly n: number
  /**
   * True while the order is in progress and after it has succeeded; false after a failure, so that
   * the retry takes over the order's index and with it the same key.
   */
  isTaken: boolean
}

const withKey = (headers: Headers, index: number): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name.toLowerCase() === "idempotency-key" && value !== undefined && index > 0
        ? `${value}.${index + 1}`
        : value
    ])
  )

/**
 * Returns a function that runs an order under its own key. Orders belong to the same call where
 * their headers are the same object.
 */
export const makeSiblingKeys = () => {
  const calls = new WeakMap<Headers, Array<Order>>()
  return async <A>(
    headers: Headers | undefined,
    n: number,
    sendRequest: (headers: Headers | undefined) => Promise<A>
  ): Promise<A> => {
    if (headers === undefined) return sendRequest(headers)
    const orders = calls.get(headers) ?? []
    calls.set(headers, orders)
    const failedOrder = orders.find((order) => !order.isTaken && order.n === n)
    const order = failedOrder ?? { n, isTaken: true }
    if (failedOrder === undefined) orders.push(order)
    order.isTaken = true
    try {
      return await sendRequest(withKey(headers, orders.indexOf(order)))
    } catch (error) {
      order.isTaken = false
      throw error
    }
  }
}
