/** Requests with an `Idempotency-Key`: ordered once, and a replay says that it is one. */
import { Effect } from "effect"
import type { Overloaded, UpstreamError } from "../../domain/Errors.ts"
import { unsent } from "../../services/databaseErrors.ts"
import {
  isKeyAlreadyUsed,
  type KeyAlreadyUsed,
  orderOnce,
  type Recalled,
  type RepeatRefusal,
  Repeats,
  type RequestKey
} from "../../services/IdempotencyKeys.ts"
import { withHeaders } from "../server/envelope.ts"

/** Answers by `order`, or by `replay` where the organisation's key stands for an earlier request. */
export const makeOnce = Effect.map(
  Repeats,
  (repeats) =>
    <A, E, R>(
      request: {
        readonly organizationId: string
        readonly key: string | undefined
        readonly path: string
        readonly body: unknown
      },
      options: {
        readonly order: (key: RequestKey | null) => Effect.Effect<A, E | KeyAlreadyUsed, R>
        readonly replay: (recalled: Recalled) => Effect.Effect<A, UpstreamError>
      }
    ): Effect.Effect<A, E | RepeatRefusal | Overloaded | UpstreamError, R> =>
      request.key === undefined
        ? Effect.catchIf(options.order(null), isKeyAlreadyUsed, () =>
            Effect.die(new Error("an order without a key found its key used"))
          )
        : Effect.gen(function* () {
            const key = yield* repeats.keyOf(request.key ?? "", request.path, request.body)
            const { answer, replayed } = yield* orderOnce({
              recall: unsent(repeats.recall(request.organizationId, key)),
              order: options.order(key),
              replay: options.replay
            })
            if (replayed) yield* withHeaders({ "idempotency-replayed": "true" })
            return yield* answer
          })
)

/** A key cannot stand for a request to another path: the fingerprint has the path in it. */
export const otherKind = (recalled: Recalled): Effect.Effect<never, UpstreamError> =>
  recalled._tag === "Refused"
    ? Effect.fail(recalled.error)
    : Effect.die(new Error(`a key stands for ${recalled._tag}`))
