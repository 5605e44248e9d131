/** Places each paid order once, even if its response is lost and the request has to be retried. */
import { APICallError } from "@ai-sdk/provider"
import { delay, type FetchFunction, isAbortError } from "@ai-sdk/provider-utils"

const KEY = "idempotency-key"
const TRIES = 3
const FIRST_PAUSE_MS = 500
/** Maximum time for which retries wait for the first request with the same key to end. */
const LONGEST_WAIT_MS = 600_000

/** Error codes of connections that were never opened, so that no request was sent. */
const unreachedCodes: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"])

const isUnreached = (error: unknown): boolean =>
  error instanceof Error &&
  (("code" in error && unreachedCodes.has(error.code)) || isUnreached(error.cause))

const isOfType = (response: Response, type: string) =>
  (response.headers.get("content-type") ?? "").startsWith(type)

const isJson = (response: Response) => isOfType(response, "application/json")

/**
 * Whether a proxy sent the response. The gateway always answers in JSON, so a 502 or later status
 * without JSON comes from a proxy, which cannot tell whether the order was placed.
 */
const isOfProxy = (response: Response) => response.status >= 502 && !isJson(response)

/**
 * Reads JSON and sounds fully, since the connection can break during the body too. Event streams
 * are returned immediately.
 */
const readFully = async (response: Response): Promise<Response> => {
  if (!isJson(response) && !isOfType(response, "audio/")) return response
  const { status, statusText, headers } = response
  return new Response(await response.arrayBuffer(), { status, statusText, headers })
}

/** The same response, marked so that callers do not retry the order under another key. */
const withoutRetry = ({ body, status, statusText, headers }: Response): Response => {
  const finalHeaders = new Headers(headers)
  finalHeaders.set("x-should-retry", "false")
  return new Response(body, { status, statusText, headers: finalHeaders })
}

/**
 * The `retry-after` seconds of a 409 response, after which the first request with the same key may
 * have ended; null for any other response.
 */
const secondsToWait = ({ status, headers }: Response): number | null => {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  return status === 409 && headers.get("x-should-retry") !== "false" && seconds >= 0
    ? seconds
    : null
}

/**
 * The result of an attempt: a response for the caller, a pause before a retry, or a lost response.
 */
type AttemptResult =
  | { readonly answer: Response }
  | { readonly pauseMillis: number }
  | { readonly lostReason: string }

const judgeResponse = (
  response: Response,
  lostAnswers: number,
  startedAt: number
): AttemptResult => {
  const seconds = lostAnswers > 0 ? secondsToWait(response) : null
  if (seconds !== null && Date.now() - startedAt < LONGEST_WAIT_MS) {
    return { pauseMillis: seconds * 1000 }
  }
  if (!isOfProxy(response)) {
    return { answer: lostAnswers > 0 && !response.ok ? withoutRetry(response) : response }
  }
  return lostAnswers + 1 === TRIES
    ? { answer: withoutRetry(response) }
    : { lostReason: "a proxy lost the answer" }
}

const attempt = async (
  send: () => Promise<Response>,
  lostAnswers: number,
  startedAt: number,
  abortSignal: AbortSignal | undefined
): Promise<AttemptResult> => {
  try {
    const response = await readFully(await send())
    const result = judgeResponse(response, lostAnswers, startedAt)
    if ("lostReason" in result) await response.body?.cancel()
    return result
  } catch (error) {
    if (isAbortError(error) || abortSignal?.aborted === true) throw error
    // The gateway was not reached, so no order was placed and the caller may safely retry under
    // another key.
    if (lostAnswers === 0 && isUnreached(error)) throw error
    return { lostReason: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * The error of an order whose response was lost. The network error is not attached as its cause,
 * because callers would then treat this error as retryable.
 */
const lostOrderError = (url: string, reason: string) =>
  new APICallError({
    message: `The answer to the order was lost ${TRIES} times (${reason}); it may have come through`,
    url,
    requestBodyValues: {},
    isRetryable: false
  })

/**
 * A `fetch` for orders. An order with an `Idempotency-Key` is sent unchanged, because the caller
 * who made the key retries the order under it. Any other order gets a key here, and is retried here
 * if its response is lost. If a retry then gets an error, this error is marked as not retryable,
 * because a retry by the caller would have another key.
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
    const send = () => fetch(input, { ...init, headers })
    const startedAt = Date.now()
    let lostAnswers = 0
    while (true) {
      const result = await attempt(send, lostAnswers, startedAt, abortSignal)
      if ("answer" in result) return result.answer
      if ("pauseMillis" in result) {
        await pause(result.pauseMillis)
        continue
      }
      lostAnswers += 1
      if (lostAnswers === TRIES) throw lostOrderError(String(input), result.lostReason)
      await pause(FIRST_PAUSE_MS * 2 ** (lostAnswers - 1))
    }
  }
