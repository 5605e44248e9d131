/**
 * Load on one HTTP server: a fixed number of connections, each sending its next request after every
 * response.
 */
import { type Dispatcher, Pool } from "undici"
import { quantile, Samples } from "./stats.ts"

export interface LoadRequest {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface LoadPlan {
  readonly url: string
  /** The requests, which are sent in turn. */
  readonly requests: ReadonlyArray<LoadRequest>
  readonly connections: number
  /** The duration of the warm-up, whose requests are neither counted nor timed. */
  readonly warmUpSeconds: number
  readonly seconds: number
  /**
   * The number of requests after which the load ends early; without this field only the time ends
   * it.
   */
  readonly requestsAtMost?: number
  /** The event at which the time of a request ends. */
  readonly until: "last byte" | "first byte"
}

export interface LoadResult {
  /** All successful responses, including those of the warm-up. */
  readonly answered: number
  readonly perSecond: number
  /** The latency at the 50th percentile, in milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** The number of bytes of a refusal that an error message quotes. */
const REFUSAL_BYTES = 400

/**
 * Runs the load to its end and waits for the last responses. Rejects with the first response that
 * was not successful, since figures with failures in them mean nothing.
 */
export const runLoad = async (plan: LoadPlan): Promise<LoadResult> => {
  const pool = new Pool(plan.url, {
    connections: plan.connections,
    pipelining: 1,
    headersTimeout: 60_000,
    bodyTimeout: 60_000
  })
  const samples = new Samples()
  const start = performance.now() + plan.warmUpSeconds * 1000
  const end = start + plan.seconds * 1000
  const { requestsAtMost = Number.POSITIVE_INFINITY } = plan
  const run = { sent: 0, answered: 0, failure: null as Error | null }

  const caller = (place: number): Promise<void> =>
    new Promise((resolve) => {
      let turn = place
      let status = 0
      let sentAt = 0
      let firstByteAt = 0
      let refusal = ""
      const next = (): void => {
        sentAt = performance.now()
        const request = plan.requests[turn % plan.requests.length]
        const isOver = sentAt >= end || run.sent >= requestsAtMost || run.failure !== null
        if (isOver || request === undefined) {
          resolve()
          return
        }
        run.sent++
        firstByteAt = 0
        turn += plan.connections
        pool.dispatch(request, handler)
      }
      const fail = (failure: Error): void => {
        run.failure ??= failure
        resolve()
      }
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: (_, statusCode) => {
          status = statusCode
        },
        onResponseData: (_, chunk) => {
          if (firstByteAt === 0) firstByteAt = performance.now()
          if (status >= 300 && refusal.length < REFUSAL_BYTES) refusal += chunk.toString()
        },
        onResponseEnd: () => {
          const now = performance.now()
          if (status < 200 || status >= 300) {
            fail(new Error(`${plan.url} answered ${status} ${refusal.slice(0, REFUSAL_BYTES)}`))
            return
          }
          run.answered++
          const endedAt = plan.until === "first byte" ? firstByteAt : now
          if (now >= start && now < end) samples.add(endedAt - sentAt)
          next()
        },
        onResponseError: (_, error) => fail(error)
      }
      next()
    })

  await Promise.all(Array.from({ length: plan.connections }, (_, place) => caller(place)))
  await pool.destroy()
  if (run.failure !== null) throw run.failure
  const times = samples.sorted()
  return {
    answered: run.answered,
    perSecond: samples.count / plan.seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99)
  }
}
