/** One attempt to deliver a message to its receiver. */
import { Clock, Effect, Option, type Redacted, Stream } from "effect"
import { storable } from "../../domain/plainText.ts"
import type { OutgoingAnswer, OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import type { DeliveryAttempt } from "../../services/delivery/WebhookMessages.ts"
import { type SignedMessage, signedHeaders } from "./webhookSecrets.ts"

/** The number of bytes of a response that the log of deliveries stores. */
const MAX_LOGGED_BYTES = 1024
/**
 * The time-out for the body of a response. The status alone decides, and the body is only logged,
 * so the attempt does not wait longer for the body.
 */
const BODY_TIMEOUT = "1 second"

export interface AttemptResult extends Omit<DeliveryAttempt, "at"> {
  readonly retryAfter: string | undefined
}

const readBeginning = ({ bytes }: OutgoingAnswer) => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  return bytes.pipe(
    Stream.takeUntil((chunk) => {
      chunks.push(chunk)
      length += chunk.byteLength
      return length >= MAX_LOGGED_BYTES
    }),
    Stream.runDrain,
    Effect.timeoutOption(BODY_TIMEOUT),
    Effect.ignore,
    Effect.map(() =>
      storable(new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_LOGGED_BYTES)))
    )
  )
}

const unanswered = (error: string) => ({ answer: null, text: null, error })

/**
 * Sends the message, signed with each secret. It never fails: the result has a status, or an error
 * that says why there is no status.
 */
export const sendMessage = Effect.fnUntraced(function* (
  web: OutgoingWeb["Service"],
  url: string,
  message: Omit<SignedMessage, "timestamp">,
  secrets: ReadonlyArray<Redacted.Redacted>,
  timeoutSeconds: number
) {
  const startedAt = yield* Clock.currentTimeMillis
  const headers = signedHeaders({ ...message, timestamp: Math.floor(startedAt / 1000) }, secrets)
  const request = {
    method: "POST" as const,
    url,
    headers: { ...headers, "content-type": "application/json", "user-agent": "media-gateway" },
    body: message.body
  }
  const { answer, text, error } = yield* Effect.gen(function* () {
    const response = yield* Effect.timeoutOption(web.open(request), `${timeoutSeconds} seconds`)
    if (Option.isNone(response))
      return unanswered(`no answer came within ${timeoutSeconds} seconds`)
    return { answer: response.value, text: yield* readBeginning(response.value), error: null }
  }).pipe(
    Effect.catch(({ message }) => Effect.succeed(unanswered(message))),
    Effect.scoped
  )
  const durationMs = (yield* Clock.currentTimeMillis) - startedAt
  const retryAfter = answer?.headers["retry-after"]
  return {
    status: answer?.status ?? null,
    durationMs: Math.round(durationMs),
    answer: text,
    error,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined
  } satisfies AttemptResult
})
