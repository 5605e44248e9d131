/** Requests with an `Idempotency-Key`: what they order is ordered once. */
import { Effect } from "effect"
import type { Modality } from "../domain/catalog/Modality.ts"
import type { Overloaded, UpstreamError } from "../domain/Errors.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import type { Caller } from "../services/Access.ts"
import {
  IdempotencyKeys,
  isKeyAlreadyUsed,
  type KeyAlreadyUsed,
  type Recalled,
  type RepeatRefusal,
  type RequestKey,
  stillRunning
} from "../services/IdempotencyKeys.ts"
import { type ModelRefusal, makeModelCheck } from "./OrderChecks.ts"

/** What an order came to, and whether this request or an earlier one of its key made it. */
export interface Ordered<A> {
  readonly answer: Effect.Effect<A, UpstreamError>
  readonly replayed: boolean
}

interface OrderingPath<A> {
  readonly path: string
  /** What its models are of. */
  readonly modalities: ReadonlyArray<Modality>
  /** Reads the answer to the earlier request; null for one that no request to the path has. */
  readonly replayOf: (recalled: Recalled) => A | null
}

/**
 * Makes functions that order once for each key. Where the key stands for an earlier request, the
 * answer is that of the earlier one, which may be a colleague's.
 */
export const makeOnce = Effect.gen(function* () {
  const idempotencyKeys = yield* IdempotencyKeys
  const checkModel = yield* makeModelCheck

  return <A>({ path, modalities, replayOf }: OrderingPath<A>) => {
    const made = (answer: A): Ordered<A> => ({ answer: Effect.succeed(answer), replayed: false })

    const repeated = (recalled: Recalled): Ordered<A> => {
      if (recalled._tag === "Refused") {
        return { answer: Effect.fail(recalled.error), replayed: true }
      }
      const answer = replayOf(recalled)
      return answer === null
        ? // The fingerprint has the path in it, so a key cannot stand for a request to another one.
          { answer: Effect.die(new Error(`a key stands for ${recalled._tag}`)), replayed: true }
        : { answer: Effect.succeed(answer), replayed: true }
    }

    return <E>(
      caller: Caller,
      body: { readonly model: string },
      key: string | undefined,
      order: (key: RequestKey | null) => Effect.Effect<A, E | KeyAlreadyUsed>
    ): Effect.Effect<Ordered<A>, E | RepeatRefusal | ModelRefusal | Overloaded> => {
      const { organizationId, models } = caller
      if (key === undefined) {
        return Effect.catchIf(Effect.map(order(null), made), isKeyAlreadyUsed, () =>
          Effect.die(new Error("an order without a key found its key used"))
        )
      }
      return Effect.gen(function* () {
        // An API key that may not order this is refused as if nobody had: also that there is an
        // earlier request, or another one, is for those who may see its answer.
        if (models !== null && !models.has(body.model)) {
          yield* checkModel(caller, body.model, modalities)
        }
        const requestKey = yield* idempotencyKeys.keyOf(key, path, body)
        const recall = failAsOverloaded(idempotencyKeys.recall(organizationId, requestKey))
        const before = yield* recall
        if (before !== null) return repeated(before)
        return yield* Effect.catchIf(Effect.map(order(requestKey), made), isKeyAlreadyUsed, () =>
          Effect.flatMap(recall, (other) =>
            other === null ? Effect.fail(stillRunning) : Effect.succeed(repeated(other))
          )
        )
      })
    }
  }
})
