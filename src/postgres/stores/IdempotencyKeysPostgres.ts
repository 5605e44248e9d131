/** Idempotency keys in PostgreSQL; the ledger's batches write them. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TaskState } from "../../domain/video/VideoTask.ts"
import {
  IdempotencyKeys,
  makeIdempotencyKeys,
  StoredAnswer
} from "../../services/IdempotencyKeys.ts"
import { columnsOf, oneTry, repeatable, rowOf, rowsOf } from "../client/rows.ts"

const KeptRow = Schema.Struct({
  fingerprint: Schema.String,
  holdId: Schema.String,
  answer: Schema.NullOr(Schema.fromJsonString(StoredAnswer)),
  holdIsOpen: Schema.Boolean,
  taskState: Schema.NullOr(TaskState)
})

const keptColumns = columnsOf(KeptRow, "q", {
  holdId: "q.order_id",
  holdIsOpen: "o.state = 'open'",
  taskState: "t.state"
})

const PURGED_AT_ONCE = 1000

export const layerIdempotencyKeys = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const purgeBatch = rowOf(Schema.Struct({ gone: Schema.Int }))(
      oneTry(sql`
        WITH old AS (
          SELECT organization_id, key FROM idempotency_keys
           WHERE expires_at <= now() ORDER BY expires_at LIMIT ${PURGED_AT_ONCE}
        ), gone AS (
          DELETE FROM idempotency_keys q USING old
           WHERE q.organization_id = old.organization_id AND q.key = old.key
             AND q.expires_at <= now()
          RETURNING 1
        )
        SELECT count(*)::int AS gone FROM gone`)
    )
    const purge = Effect.asVoid(
      Effect.repeat(purgeBatch, { while: ({ gone }) => gone === PURGED_AT_ONCE })
    )

    return yield* makeIdempotencyKeys({
      find: Effect.fnUntraced(function* (organizationId, key) {
        const [row] = yield* rowsOf(KeptRow)(
          repeatable(sql`
            SELECT ${sql.literal(keptColumns)}
              FROM idempotency_keys q
              JOIN orders o ON o.organization_id = q.organization_id AND o.id = q.order_id
              LEFT JOIN tasks t ON t.organization_id = q.organization_id AND t.id = q.order_id
             WHERE q.organization_id = ${organizationId} AND q.key = ${key}
               AND q.expires_at > now()`)
        )
        return row ?? null
      }),
      purge
    })
  })
)
