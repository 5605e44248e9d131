/** The one way to a vendor: send, wait, and tell a refusal from a loss. */
import { Duration, Effect, Redacted, Schema, Stream } from "effect"
import type { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { VendorLost, VendorRefused, VendorUnreachable } from "../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"

export interface VendorAnswer {
  readonly status: number
  /** Decoded JSON; the text itself where it is not JSON. */
  readonly body: unknown
  readonly isJson: boolean
  readonly retryAfterSeconds: number | null
}

export interface SendOptions {
  readonly timeout: Duration.Duration
  readonly maxBytes: number
}

const notSent: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "EPROTO"
])

const Coded = Schema.Struct({ code: Schema.String })
const isCoded = Schema.is(Coded)

/** True when the error proves that no byte of the request reached the vendor. */
const provesNotSent = (error: HttpClientError.HttpClientError): boolean => {
  const { reason } = error
  if (reason._tag === "InvalidUrlError" || reason._tag === "EncodeError") return true
  return reason._tag === "TransportError" && isCoded(reason.cause) && notSent.has(reason.cause.code)
}

const lost = (reason: VendorLost["reason"], message: string, answer?: VendorAnswer) =>
  new VendorLost({
    reason,
    message,
    status: answer?.status ?? null,
    body: answer?.body ?? null,
    retryAfterSeconds: answer?.retryAfterSeconds ?? null
  })

const connectionLost = () =>
  lost("connection_lost", "The connection to the vendor was lost before its answer was complete")

const parseRetryAfter = (header: string | undefined): number | null => {
  const seconds = Number.parseInt(header ?? "", 10)
  return Number.isSafeInteger(seconds) && seconds >= 0 ? seconds : null
}

const parseJson = (text: string): Pick<VendorAnswer, "body" | "isJson"> => {
  try {
    return { body: JSON.parse(text), isJson: true }
  } catch {
    return { body: text, isJson: false }
  }
}

/**
 * Sends one request and reads the whole answer, whatever its status. Fails with
 * `VendorUnreachable` when nothing was sent, and with `VendorLost` when the answer did not come,
 * was cut or outgrew `maxBytes`. Redirects are not followed.
 */
export const send = Effect.fnUntraced(
  function* (
    http: HttpClient.HttpClient,
    request: HttpClientRequest.HttpClientRequest,
    options: SendOptions
  ) {
    const response = yield* http.execute(request)
    const chunks: Array<Uint8Array> = []
    let bytes = 0
    yield* Stream.runForEach(response.stream, (chunk) => {
      bytes += chunk.byteLength
      if (bytes > options.maxBytes) {
        return Effect.fail(lost("broken_answer", "The vendor's answer is too large"))
      }
      chunks.push(chunk)
      return Effect.void
    })
    return {
      status: response.status,
      ...parseJson(Buffer.concat(chunks).toString("utf8")),
      retryAfterSeconds: parseRetryAfter(response.headers["retry-after"])
    }
  },
  (effect, _http, _request, options) =>
    effect.pipe(
      Effect.catchTag(
        "HttpClientError",
        (error): Effect.Effect<never, VendorLost | VendorUnreachable> =>
          Effect.fail(
            provesNotSent(error)
              ? new VendorUnreachable({ message: "The vendor could not be reached" })
              : connectionLost()
          )
      ),
      Effect.timeoutOrElse({
        duration: options.timeout,
        orElse: () =>
          Effect.fail(
            lost(
              "timeout",
              `The vendor did not answer within ${Duration.toSeconds(options.timeout)} seconds`
            )
          )
      })
    )
)

/** Hides our credentials in what a vendor echoes. */
export const scrub = (account: ChannelAccount, value: unknown): unknown => {
  const secrets = [
    Redacted.value(account.apiKey),
    ...(account.appId === null ? [] : [account.appId])
  ]
  const text = JSON.stringify(value)
  if (text === undefined) return value
  const clean = secrets.reduce((result, secret) => {
    const encoded = JSON.stringify(secret).slice(1, -1)
    return result.replaceAll(encoded, "[redacted]")
  }, text)
  return clean === text ? value : JSON.parse(clean)
}

export interface RefusalText {
  readonly message: string
  /** Status the vendor's own code stands for, where it differs from the HTTP status. */
  readonly effectiveStatus?: number
}

/**
 * A vendor's error answer, body unchanged but for our own credentials. A gateway time-out on the
 * vendor's side proves nothing about the job, so it counts as lost.
 */
export const refusal = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText
): VendorRefused | VendorLost => {
  const scrubbed = scrub(account, text.message)
  const message = typeof scrubbed === "string" ? scrubbed : "The vendor refused the request"
  const body = scrub(account, answer.body)
  const effectiveStatus = text.effectiveStatus ?? answer.status
  return effectiveStatus === 504
    ? lost("timeout", message, { ...answer, body })
    : new VendorRefused({
        effectiveStatus,
        status: answer.status,
        body,
        message,
        retryAfterSeconds: answer.retryAfterSeconds
      })
}

/** A 2xx that does not say what it must: the job may exist all the same. */
export const brokenAnswer = (account: ChannelAccount, answer: VendorAnswer) =>
  lost("broken_answer", "The vendor's answer could not be read", {
    ...answer,
    body: scrub(account, answer.body)
  })
