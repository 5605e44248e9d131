/** One order of work that costs money is one order, whatever happens to its answer. */
import { APICallError } from "@ai-sdk/provider"
import { delay, type FetchFunction, isAbortError } from "@ai-sdk/provider-utils"

const KEY = "idempotency-key"
const TRIES = 3
const FIRST_PAUSE_MS = 500
/** How long the first request with a key may go on before its repeats give up. */
const LONGEST_WAIT_MS = 600_000

/** Of connections that were never made: nothing was sent. */
const unreached: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"])

const wasUnreached = (error: unknown): boolean =>
  error instanceof Error &&
  (("code" in error && unreached.has(error.code)) || wasUnreached(error.cause))

const isJson = (response: Response) =>
  (response.headers.get("content-type") ?? "").startsWith("application/json")

/** The gateway answers in JSON: a proxy that lost it does not know what became of the order. */
const isOfProxy = (response: Response) => response.status >= 502 && !isJson(response)

/** Its connection can break too, so it is read to its end here; a stream is passed on as it comes. */
const wholeOf = async (response: Response): Promise<Response> => {
  if (!isJson(response)) return response
  const { status, statusText, headers } = response
  return new Response(await response.arrayBuffer(), { status, statusText, headers })
}

/** Keeps the callers from repeating the order under another key. */
const final = ({ body, status, statusText, headers: given }: Response): Response => {
  const headers = new Headers(given)
  headers.set("x-should-retry", "false")
  return new Response(body, { status, statusText, headers })
}

/** Seconds after which the first request may have ended; null where the answer is another. */
const secondsToWait = ({ status, headers }: Response): number | null => {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  return status === 409 && headers.get("x-should-retry") !== "false" && seconds >= 0
    ? seconds
    : null
}

/**
 * A `fetch` for orders. One that comes with an `Idempotency-Key` is sent as it is: who made the key
 * repeats the order under it. Any other gets a key of its own and is repeated here where its answer was
 * lost. After that its errors say that it must not be repeated, as the next would have another key.
 */
export const paidFetch =
  (fetch: FetchFunction): FetchFunction =>
  async (input, init) => {
    const headers = new Headers(init?.headers)
    if (init?.method !== "POST" || headers.has(KEY)) return fetch(input, init)
    headers.set(KEY, crypto.randomUUID())
    const abortSignal = init.signal ?? undefined
    const pause = (millis: number) =>
      delay(millis, abortSignal === undefined ? {} : { abortSignal })
    const begun = Date.now()
    let lost = 0
    while (true) {
      let reason = "a proxy lost the answer"
      try {
        const response = await wholeOf(await fetch(input, { ...init, headers }))
        const seconds = lost > 0 ? secondsToWait(response) : null
        if (seconds !== null && Date.now() - begun < LONGEST_WAIT_MS) {
          await pause(seconds * 1000)
          continue
        }
        if (!isOfProxy(response)) return lost > 0 && !response.ok ? final(response) : response
        if (lost + 1 === TRIES) return final(response)
        await response.body?.cancel()
      } catch (error) {
        if (isAbortError(error) || abortSignal?.aborted === true) throw error
        // Nothing was ordered yet: it may be repeated under any key.
        if (lost === 0 && wasUnreached(error)) throw error
        reason = error instanceof Error ? error.message : String(error)
      }
      lost += 1
      if (lost === TRIES) {
        throw new APICallError({
          // An error of the network as its cause would make this one look retryable.
          message: `The answer to the order was lost ${TRIES} times (${reason}); it may have come through`,
          url: String(input),
          requestBodyValues: {},
          isRetryable: false
        })
      }
      await pause(FIRST_PAUSE_MS * 2 ** (lost - 1))
    }
  }
