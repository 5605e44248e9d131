/** Places one order for all requests with the same `Idempotency-Key`. */
import { Effect, Result } from "effect"
import type { Modality } from "../domain/catalog/Modality.ts"
import type { Overloaded, RateLimited, UpstreamError } from "../domain/Errors.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import type { Caller } from "../services/Access.ts"
import {
  type FirstAnswer,
  IdempotencyKeys,
  isKeyAlreadyUsed,
  type KeyAlreadyUsed,
  type RepeatRefusal,
  type RequestKey,
  requestRunning
} from "../services/IdempotencyKeys.ts"
import { type ModelRefusal, makeModelCheck } from "./OrderChecks.ts"

/** The result of an order, and whether it is replayed from an earlier request with the same key. */
export interface OrderResult<A> {
  readonly answer: Result.Result<A, UpstreamError>
  readonly isReplay: boolean
}

interface OrderingPath<A> {
  readonly path: string
  /** The modalities of the models that can be ordered on the path. */
  readonly modalities: ReadonlyArray<Modality>
  /**
   * The answer to a repeated request, made from the stored result; null for a result that orders of
   * this path cannot have.
   */
  readonly replayOf: (recalled: FirstAnswer) => A | null
  /** Finds the answer to an order where its kind is stored; null where this one is not. */
  readonly storedAnswer?: (
    organizationId: string,
    orderId: string,
    body: OrderBody
  ) => Effect.Effect<A | null, RateLimited>
}

/** What the body of every order has. */
export interface OrderBody {
  readonly model: string
  readonly stream?: boolean | null
}

/**
 * Makes functions that place one order for each key. When the key belongs to an earlier request,
 * which may be a colleague's, the answer to that request is replayed.
 */
export const makeWithIdempotency = Effect.gen(function* () {
  const idempotencyKeys = yield* IdempotencyKeys
  const checkModel = yield* makeModelCheck

  return <A>({ path, modalities, replayOf, storedAnswer }: OrderingPath<A>) => {
    const firstResult = (answer: A): OrderResult<A> => ({
      answer: Result.succeed(answer),
      isReplay: false
    })

    const replayed = (answer: A): OrderResult<A> => ({
      answer: Result.succeed(answer),
      isReplay: true
    })

    const replay = (
      { organizationId }: Caller,
      body: OrderBody,
      recalled: FirstAnswer
    ): Effect.Effect<OrderResult<A>, RepeatRefusal | Overloaded | RateLimited> => {
      if (recalled._tag === "Refused") {
        return Effect.succeed({ answer: Result.fail(recalled.error), isReplay: true })
      }
      if (recalled._tag === "ChargedText") {
        const { orderId, refusal } = recalled
        if (storedAnswer === undefined) return Effect.fail(refusal)
        return Effect.flatMap(
          failAsOverloaded(storedAnswer(organizationId, orderId, body)),
          (answer) => (answer === null ? Effect.fail(refusal) : Effect.succeed(replayed(answer)))
        )
      }
      const answer = replayOf(recalled)
      return answer === null
        ? // A stored result of another path cannot occur: the request fingerprint contains the path,
          // so a key that was used on another path is refused as a mismatch.
          Effect.die(new Error(`a key stands for ${recalled._tag}`))
        : Effect.succeed(replayed(answer))
    }

    return <E, R>(
      caller: Caller,
      body: OrderBody,
      key: string | undefined,
      order: (key: RequestKey | null) => Effect.Effect<A, E | KeyAlreadyUsed, R>
    ): Effect.Effect<
      OrderResult<A>,
      E | RepeatRefusal | ModelRefusal | Overloaded | RateLimited,
      R
    > => {
      const { organizationId, models } = caller
      if (key === undefined) {
        return Effect.catchIf(Effect.map(order(null), firstResult), isKeyAlreadyUsed, () =>
          Effect.die(new Error("an order without a key found its key used"))
        )
      }
      return Effect.gen(function* () {
        // An API key that may not order the model is refused before the look-up of the idempotency
        // key: only those who may see the answer to an earlier request may learn that the request
        // exists.
        if (models !== null && !models.has(body.model)) {
          yield* checkModel(caller, body.model, modalities)
        }
        const requestKey = yield* idempotencyKeys.keyOf(key, path, body)
        const recall = failAsOverloaded(idempotencyKeys.recall(organizationId, requestKey))
        const earlier = yield* recall
        if (earlier !== null) return yield* replay(caller, body, earlier)
        return yield* Effect.catchIf(
          Effect.map(order(requestKey), firstResult),
          isKeyAlreadyUsed,
          () =>
            Effect.flatMap(recall, (other) =>
              other === null ? Effect.fail(requestRunning) : replay(caller, body, other)
            )
        )
      })
    }
  }
})
