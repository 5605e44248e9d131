/** The one way to a vendor: send, wait, and tell a refusal from a loss. */
import { Duration, Effect, Schema, Stream } from "effect"
import {
  HttpClient,
  type HttpClientError,
  type HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import { VendorLost, VendorRefused, VendorUnreachable } from "../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { asVendorTime } from "../services/VendorTime.ts"
import { messageOf, saysError } from "./errorText.ts"
import { recordCall } from "./recordCall.ts"
import { scrub, scrubText } from "./scrub.ts"

export interface VendorAnswer {
  readonly status: number
  /** Decoded JSON; the text itself where it is not JSON. */
  readonly body: unknown
  readonly retryAfterSeconds: number | null
}

export interface SendOptions {
  readonly timeout: Duration.Duration
  readonly maxBytes: number
}

// Network codes such as EHOSTUNREACH also end running connections: the system call tells.
const connecting: ReadonlySet<string> = new Set(["connect", "getaddrinfo"])

/** The request was not valid, or the handshake failed that comes before it. */
const notSent: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_UNSUPPORTED_PROTOCOL",
  "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
  "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
  "ERR_SSL_TLSV1_UNRECOGNIZED_NAME"
])

const Fault = Schema.Struct({
  code: Schema.optional(Schema.String),
  syscall: Schema.optional(Schema.String)
})
const isFault = Schema.is(Fault)

/** A host with several addresses fails with one error for each. */
const beforeSending = (cause: unknown): boolean => {
  if (cause instanceof AggregateError) {
    return cause.errors.length > 0 && cause.errors.every((one: unknown) => beforeSending(one))
  }
  return isFault(cause) && (connecting.has(cause.syscall ?? "") || notSent.has(cause.code ?? ""))
}

/** True when the error proves that no byte of the request reached the vendor. */
const provesNotSent = ({ reason }: HttpClientError.HttpClientError): boolean =>
  reason._tag === "InvalidUrlError" ||
  reason._tag === "EncodeError" ||
  (reason._tag === "TransportError" && beforeSending(reason.cause))

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

/** The answer did not come in the time we give it. */
export const timedOut = (limit: Duration.Duration) =>
  lost("timeout", `The vendor did not answer within ${Duration.toSeconds(limit)} seconds`)

/** More was said than we read. */
export const tooLarge = (answer: VendorAnswer) =>
  lost("broken_answer", "The vendor's answer is too large", answer)

/** Seconds only: a date would need the vendor's clock to agree with ours. */
const parseRetryAfter = (header: string | undefined): number | null =>
  header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : null

const parseBody = (bytes: Uint8Array): unknown => {
  const text = new TextDecoder().decode(bytes)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What an answer begins with. */
export const headOf = (response: HttpClientResponse.HttpClientResponse) => ({
  status: response.status,
  retryAfterSeconds: parseRetryAfter(response.headers["retry-after"])
})

/** Reads an answer to its end. */
export const readWhole = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number
) {
  const head = headOf(response)
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  yield* Stream.runForEach(response.stream, (chunk) => {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      return Effect.fail(tooLarge({ ...head, body: null }))
    }
    chunks.push(chunk)
    return Effect.void
  })
  return { ...head, body: parseBody(Buffer.concat(chunks)) }
})

/** Tells what never reached the vendor from what was lost, and sends no trace header out. */
export const overHttp = <A, R>(
  exchange: Effect.Effect<A, VendorLost | HttpClientError.HttpClientError, R>
): Effect.Effect<A, VendorLost | VendorUnreachable, R> =>
  exchange.pipe(
    Effect.provideService(HttpClient.TracerPropagationEnabled, false),
    Effect.catchTag(
      "HttpClientError",
      (error): Effect.Effect<never, VendorLost | VendorUnreachable> =>
        Effect.fail(
          provesNotSent(error)
            ? new VendorUnreachable({ message: "The vendor could not be reached" })
            : connectionLost()
        )
    )
  )

const exchange = Effect.fnUntraced(
  function* (
    http: HttpClient.HttpClient,
    request: HttpClientRequest.HttpClientRequest,
    options: SendOptions
  ) {
    return yield* readWhole(yield* http.execute(request), options.maxBytes)
  },
  (effect, _http, _request, options) =>
    overHttp(effect).pipe(
      Effect.timeoutOrElse({
        duration: options.timeout,
        orElse: () => Effect.fail(timedOut(options.timeout))
      }),
      asVendorTime
    )
)

/**
 * Sends one request and reads the whole answer, whatever its status. Fails with
 * `VendorUnreachable` when nothing was sent, and with `VendorLost` when the answer did not come,
 * was cut or outgrew `maxBytes`. Redirects are not followed, and no trace header goes out.
 */
export const send = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options: SendOptions
): Effect.Effect<VendorAnswer, VendorLost | VendorUnreachable> =>
  recordCall(request, exchange(http, request, options))

export interface RefusalText {
  /** Where it stands in no usual place of the body. */
  readonly message?: string | null
  /** Status the vendor's own code stands for, where it differs from the HTTP status. */
  readonly effectiveStatus?: number | null
}

/** A proxy before the vendor gave up waiting; 524 is a content network's own word for it. */
const proxyTimeouts: ReadonlySet<number> = new Set([504, 524])

/**
 * A vendor's error answer, body unchanged but for our own credentials. An error in an HTTP 200
 * counts as a bad gateway. A time-out on the vendor's side proves nothing about the job, so it
 * counts as lost.
 */
export const refusal = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText = {}
): VendorRefused | VendorLost => {
  const said = text.message ?? messageOf(answer.body)
  const message = scrubText(account, said ?? `The vendor answered HTTP ${answer.status}`)
  const body = scrub(account, answer.body)
  const effectiveStatus = text.effectiveStatus ?? (answer.status >= 300 ? answer.status : 502)
  return proxyTimeouts.has(effectiveStatus) || proxyTimeouts.has(answer.status)
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

/** Why an answer is of no use: refused when it names an error, lost when it cannot be read. */
export const unusable = (
  account: ChannelAccount,
  answer: VendorAnswer
): VendorRefused | VendorLost =>
  answer.status >= 300 || saysError(answer.body)
    ? refusal(account, answer)
    : brokenAnswer(account, answer)

/**
 * The refusal a vendor gives for an input its interface has no field for. Leaving the input out
 * would sell another video than the one ordered, so nothing is sent.
 */
export const refusedUnsent = (body: {
  readonly message: string
  readonly [field: string]: unknown
}): VendorRefused =>
  new VendorRefused({
    effectiveStatus: 400,
    status: 400,
    body,
    message: body.message,
    retryAfterSeconds: null
  })
