/**
 * Idempotency keys of orders that the AI SDK makes from one call. It splits a call for more images
 * than one order allows into several orders, all with the caller's `Idempotency-Key`. Each order
 * needs a different key, and its retries need the same key again.
 */

type Headers = Record<string, string | undefined>

interface Order {
  readonly n: number
  /** Whether the order is in progress or has succeeded, so that no retry of it is expected. */
  isTaken: boolean
}

const withKey = (headers: Headers, place: number): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name.toLowerCase() === "idempotency-key" && value !== undefined && place > 0
        ? `${value}.${place + 1}`
        : value
    ])
  )

/**
 * Recognises the orders of one call by the headers object, which is the same object for all of
 * them.
 */
export const makeSiblingKeys = () => {
  const calls = new WeakMap<Headers, Array<Order>>()
  return async <A>(
    headers: Headers | undefined,
    n: number,
    run: (headers: Headers | undefined) => Promise<A>
  ): Promise<A> => {
    if (headers === undefined) return run(headers)
    const orders = calls.get(headers) ?? []
    calls.set(headers, orders)
    const failed = orders.find((order) => !order.isTaken && order.n === n)
    const order = failed ?? { n, isTaken: true }
    if (failed === undefined) orders.push(order)
    order.isTaken = true
    try {
      return await run(withKey(headers, orders.indexOf(order)))
    } catch (error) {
      order.isTaken = false
      throw error
    }
  }
}
