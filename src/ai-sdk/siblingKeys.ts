/**
 * Keys of orders that the AI SDK makes of one call: it sends more images than one order has as several,
 * all with the caller's `Idempotency-Key`. Each needs a key of its own, which its repeats keep.
 */

type Headers = Record<string, string | undefined>

interface Order {
  readonly n: number
  /** Whether it is under way or has ended well: a repeat of it is not to be expected. */
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

/** All orders of one call come with the same object of headers: by it they know each other. */
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
