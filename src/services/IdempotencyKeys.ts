/**
 * Requests that carry an `Idempotency-Key`. The key is stored in the commit of the hold, so the
 * same key creates one order only, whichever gateway receives the repeated requests. A repeat gets
 * the response of the first request.
 */
import { Context, Effect, Predicate, Schema } from "effect"
import { Digest } from "effect/crypto"
import { Hex } from "effect/encoding"
import { IdempotencyConflict, IdempotencyMismatch, UpstreamError } from "../domain/Errors.ts"
import { canonicalPieces } from "../domain/jsonPieces.ts"
import { taskKindOf } from "../domain/orderIds.ts"
import { RawAnswer } from "../domain/RawAnswer.ts"
import { TaskState } from "../domain/taskStates.ts"
import { abandonedRequestError } from "../domain/VendorOutcome.ts"
import { holdsLongText } from "../redaction/patterns.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import type { ImageResult } from "./ProtocolAdapter.ts"

export interface RequestKey {
  readonly key: string
  /**
   * The request fingerprint: a hash of path and body. Where the fingerprint of a repeated key
   * differs, the key was used for another request before.
   */
  readonly fingerprint: string
}

/** The JSON response body of an order. */
export type AnswerBody = Readonly<Record<string, unknown>> | RawAnswer

/**
 * The key is already used: another hold stored it after this request had looked it up and not found
 * it.
 */
export class KeyAlreadyUsed extends Schema.TaggedError<KeyAlreadyUsed>()("KeyAlreadyUsed", {}) {}

/** The stored response of a request, where it cannot be derived from the task. */
export const StoredAnswer = Schema.Union([
  /** The response body; null where the images came in base64, which the database does not store. */
  Schema.TaggedStruct("Images", {
    result: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
  }),
  /** The text itself is never stored in the database. */
  Schema.TaggedStruct("Text", { streamed: Schema.Boolean }),
  Schema.TaggedStruct("Refused", { error: UpstreamError })
])
export type StoredAnswer = typeof StoredAnswer.Type

/** The stored state of a key. */
export const StoredRequest = Schema.Struct({
  fingerprint: Schema.String,
  holdId: Schema.String,
  answer: Schema.NullOr(Schema.fromJsonString(StoredAnswer)),
  holdIsOpen: Schema.Boolean,
  /** The state of the order's task; null for synchronous orders. */
  taskState: Schema.NullOr(TaskState)
})
export type StoredRequest = typeof StoredRequest.Type

/** The response to the first request with the key. */
export type FirstAnswer =
  | { readonly _tag: "Video"; readonly id: string }
  /** A task of images or speech. */
  | { readonly _tag: "Task"; readonly id: string }
  | { readonly _tag: "Images"; readonly result: AnswerBody }
  | { readonly _tag: "Text"; readonly result: AnswerBody }
  /** A text that was charged and is not known here; `refusal` says so. */
  | {
      readonly _tag: "ChargedText"
      readonly orderId: string
      readonly refusal: IdempotencyConflict
    }
  | { readonly _tag: "Refused"; readonly error: UpstreamError }

export type RepeatRefusal = IdempotencyConflict | IdempotencyMismatch

export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /**
     * Builds the key of a request to `path`. Its fingerprint does not depend on the order of the
     * fields in `body`.
     */
    keyOf(key: string, path: string, body: unknown): Effect.Effect<RequestKey>
    /** Finds the response to the first request with the key; null when the key is unused. */
    recall(
      organizationId: string,
      key: RequestKey
    ): Effect.Effect<FirstAnswer | null, RepeatRefusal>
    /** Caches in the memory of this gateway a response that the database does not store. */
    remember(organizationId: string, key: RequestKey, result: AnswerBody): Effect.Effect<void>
    /** Deletes expired keys. */
    readonly purge: Effect.Effect<void>
  }
>()("gateway/services/IdempotencyKeys") {}

export const requestRunning = new IdempotencyConflict({
  message:
    "The first request with this Idempotency-Key is still running; repeat it in a moment for its answer",
  param: "idempotency-key",
  retryAfterSeconds: 1
})

const missingAnswer = (message: string) =>
  new IdempotencyConflict({ message, param: "idempotency-key", retryAfterSeconds: null })

/**
 * Returns the response of the first request, or fails with the reason why that response cannot be
 * returned again.
 */
export const recallAnswer = Effect.fnUntraced(function* (
  { answer, taskState, ...request }: StoredRequest,
  key: RequestKey,
  recentAnswer: AnswerBody | null
): Effect.fn.Return<FirstAnswer, RepeatRefusal> {
  if (request.fingerprint !== key.fingerprint) {
    return yield* new IdempotencyMismatch({
      message: "This Idempotency-Key was used for another request; take a fresh one",
      param: "idempotency-key"
    })
  }
  const taskKind = taskKindOf(request.holdId)
  if (taskState !== null && (taskKind === "image" || taskKind === "speech")) {
    return { _tag: "Task", id: request.holdId }
  }
  if (taskState !== null && taskState !== "submitting" && taskState !== "rejected") {
    return { _tag: "Video", id: request.holdId }
  }
  switch (answer?._tag) {
    case "Refused":
      return answer
    case "Images": {
      const result = answer.result ?? recentAnswer
      if (result !== null) return { _tag: "Images", result }
      return yield* missingAnswer(
        "The images of this Idempotency-Key were made, charged and answered in base64, which is not kept; take a fresh key to make others"
      )
    }
    case "Text":
      // Only responses that were not streamed are cached. For a streamed request, a cached response
      // therefore belongs to another request.
      if (recentAnswer !== null && !answer.streamed) return { _tag: "Text", result: recentAnswer }
      return {
        _tag: "ChargedText",
        orderId: request.holdId,
        refusal: missingAnswer(
          "The answer to the request of this Idempotency-Key was made and charged, and is not kept; take a fresh key to make another"
        )
      }
    default:
      if (request.holdIsOpen) return yield* requestRunning
      return { _tag: "Refused", error: abandonedRequestError() }
  }
})

export const isKeyAlreadyUsed = Schema.is(KeyAlreadyUsed)

/** True when a response contains image data, not only addresses of images. */
export const carriesImages = (result: Exclude<ImageResult, RawAnswer>): boolean =>
  (Array.isArray(result.data) &&
    result.data.some(
      (entry: unknown) => Predicate.isObject(entry) && typeof entry.b64_json === "string"
    )) ||
  holdsLongText(result)

const CACHE_BYTES = 64 * 1024 * 1024
const BYTES_PER_NUMBER = 8

const bytesOf = (value: unknown): number => {
  if (value instanceof RawAnswer) return value.bytes
  if (typeof value === "string") return value.length
  if (typeof value === "number") return BYTES_PER_NUMBER
  return Predicate.isObjectOrArray(value)
    ? Object.values(value).reduce((sum: number, inner) => sum + bytesOf(inner), 0)
    : 0
}

/** The service over a store of keys; `find` returns no expired key. */
export const makeIdempotencyKeys = Effect.fnUntraced(function* (store: {
  readonly find: (organizationId: string, key: string) => Effect.Effect<StoredRequest | null>
  readonly purge: Effect.Effect<void>
}) {
  const digest = yield* Digest.Digest
  /**
   * A cache of responses with base64 images or text, for repeats of their requests. The database
   * stores neither images nor text.
   */
  const recent = makeBoundedMap(CACHE_BYTES, ({ result }: { result: AnswerBody } & RequestKey) =>
    bytesOf(result)
  )
  const nameOf = (organizationId: string, { key }: RequestKey) => `${organizationId} ${key}`

  return IdempotencyKeys.of({
    keyOf: Effect.fnUntraced(function* (key, path, body) {
      let hash: Uint8Array = new Uint8Array()
      let before = `${path}\n`
      // The hash is computed piece by piece, each step over the previous hash and the next piece,
      // so that the whole text is never in memory.
      for (const piece of canonicalPieces(body)) {
        if (before === "") yield* Effect.yieldNow
        hash = yield* Effect.orDie(
          digest.digest(Digest.sha256, Buffer.concat([hash, Buffer.from(before + piece)]))
        )
        before = ""
      }
      return { key, fingerprint: Hex.encode(hash) }
    }),
    recall: Effect.fn("IdempotencyKeys.recall")(function* (organizationId, key) {
      const storedRequest = yield* store.find(organizationId, key.key)
      if (storedRequest === null) return null
      // The cached response may belong to an earlier request with the same key.
      const last = recent.get(nameOf(organizationId, key))
      const recentAnswer = last?.fingerprint === key.fingerprint ? last.result : null
      return yield* recallAnswer(storedRequest, key, recentAnswer)
    }),
    remember: (organizationId, key, result) =>
      Effect.sync(() => recent.set(nameOf(organizationId, key), { ...key, result })),
    purge: store.purge
  })
})
