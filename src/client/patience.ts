/** Retries of the client, and the idempotency keys that make these retries safe. */
import { Duration, Effect } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"

const KEY = "idempotency-key"
/**
 * Maximum time for which the client waits before a retry. Where the gateway asks for a longer wait,
 * such as until a monthly cap resets, the request is not retried and the caller decides.
 */
const LONGEST_WAIT_SECONDS = 60
const FIRST_PAUSE = Duration.millis(250)

const orderPath =
  /\/v1\/(?:(?:videos|images)\/generations|chat\/completions|embeddings|rerank|audio\/(?:speech|transcriptions|translations))$/

/** Adds an idempotency key to every order that has none. */
export const withIdempotencyKeys = <E, R>(client: HttpClient.HttpClient.With<E, R>) =>
  HttpClient.mapRequestEffect(client, (request) =>
    request.method === "POST" &&
    request.headers[KEY] === undefined &&
    orderPath.test(request.url.split("?", 1)[0] ?? "")
      ? Effect.sync(() => HttpClientRequest.setHeader(request, KEY, crypto.randomUUID()))
      : Effect.succeed(request)
  )

/** The seconds to wait before a retry; null where the request is not retried. */
const retryDelaySeconds = (response: HttpClientResponse.HttpClientResponse): number | null => {
  const { status, headers } = response
  if (headers["x-should-retry"] === "false") return null
  if (status !== 409 && status !== 429 && status !== 503) return null
  const seconds = Number(headers["retry-after"])
  return Number.isFinite(seconds) && seconds <= LONGEST_WAIT_SECONDS ? seconds : null
}

const isJson = (response: HttpClientResponse.HttpClientResponse): boolean =>
  (response.headers["content-type"] ?? "").startsWith("application/json")

/** Whether a retry of the request cannot place a second order. */
const isRepeatable = (request: HttpClientRequest.HttpClientRequest): boolean =>
  request.method === "GET" || request.headers[KEY] !== undefined

/**
 * Retries a request when the gateway's response allows it. If no response came, retries only
 * requests that are safe to repeat: reads, and orders with an idempotency key.
 */
export const withRetries =
  (times: number) =>
  <E, R>(client: HttpClient.HttpClient.With<E, R>) =>
    HttpClient.transform(client, (send, request) => {
      // The connection can also break during the body, so a JSON body is read fully here. The
      // response keeps the text for its decoder.
      const completeResponse = Effect.tap(send, (response) =>
        isJson(response) ? response.text : Effect.void
      )
      const attempt = (attemptsLeft: number): typeof completeResponse =>
        Effect.matchEffect(completeResponse, {
          onFailure: (error) =>
            attemptsLeft > 0 && isRepeatable(request)
              ? Effect.delay(
                  attempt(attemptsLeft - 1),
                  Duration.times(FIRST_PAUSE, 2 ** (times - attemptsLeft))
                )
              : Effect.fail(error),
          onSuccess: (response) => {
            const delaySeconds = attemptsLeft > 0 ? retryDelaySeconds(response) : null
            return delaySeconds === null
              ? Effect.succeed(response)
              : Effect.delay(attempt(attemptsLeft - 1), Duration.seconds(delaySeconds))
          }
        })
      return attempt(times)
    })
