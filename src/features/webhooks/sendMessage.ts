/** One attempt to hand a message to its receiver. */
import { Clock, Effect, Option, type Redacted, Stream } from "effect"
import { storable } from "../../domain/plainText.ts"
import type { OutgoingAnswer, OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import type { DeliveryAttempt } from "../../services/delivery/WebhookMessages.ts"
import { type SignedMessage, signedHeaders } from "./webhookSecrets.ts"

/** Of an answer the log shows so much. */
const KEPT_BYTES = 1024
/** The status decides; the beginning of the body is for the log, and no receiver is waited for longer. */
const BODY_PATIENCE = "1 second"

export interface AttemptResult extends Omit<DeliveryAttempt, "at"> {
  readonly retryAfter: string | undefined
}

const beginningOf = ({ bytes }: OutgoingAnswer) => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  return bytes.pipe(
    Stream.takeUntil((chunk) => {
      chunks.push(chunk)
      length += chunk.byteLength
      return length >= KEPT_BYTES
    }),
    Stream.runDrain,
    Effect.timeoutOption(BODY_PATIENCE),
    Effect.ignore,
    Effect.map(() =>
      storable(new TextDecoder().decode(Buffer.concat(chunks).subarray(0, KEPT_BYTES)))
    )
  )
}

const unanswered = (error: string) => ({ answer: null, text: null, error })

/** Sends the message, signed by each secret; whatever comes of it is an answer or an error in words. */
export const sendMessage = Effect.fnUntraced(function* (
  web: OutgoingWeb["Service"],
  url: string,
  message: Omit<SignedMessage, "timestamp">,
  secrets: ReadonlyArray<Redacted.Redacted>,
  timeoutSeconds: number
) {
  const begun = yield* Clock.currentTimeMillis
  const headers = signedHeaders({ ...message, timestamp: Math.floor(begun / 1000) }, secrets)
  const request = {
    method: "POST" as const,
    url,
    headers: { ...headers, "content-type": "application/json", "user-agent": "media-gateway" },
    body: message.body
  }
  const { answer, text, error } = yield* Effect.gen(function* () {
    const opened = yield* Effect.timeoutOption(web.open(request), `${timeoutSeconds} seconds`)
    if (Option.isNone(opened)) return unanswered(`no answer came within ${timeoutSeconds} seconds`)
    return { answer: opened.value, text: yield* beginningOf(opened.value), error: null }
  }).pipe(
    Effect.catch(({ message }) => Effect.succeed(unanswered(message))),
    Effect.scoped
  )
  const durationMs = (yield* Clock.currentTimeMillis) - begun
  const retryAfter = answer?.headers["retry-after"]
  return {
    status: answer?.status ?? null,
    durationMs: Math.round(durationMs),
    answer: text,
    error,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined
  } satisfies AttemptResult
})
