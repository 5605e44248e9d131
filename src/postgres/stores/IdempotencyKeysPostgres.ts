/** Idempotency keys in PostgreSQL; the ledger's batches write them. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  IdempotencyKeys,
  makeIdempotencyKeys,
  StoredRequest
} from "../../services/IdempotencyKeys.ts"
import { Distribution } from "../citus/Distribution.ts"
import { makeConditions } from "../client/conditions.ts"
import { columnsOf, deleteInBatches, retryBriefly, rowsOf } from "../client/rows.ts"

const requestColumns = columnsOf(StoredRequest, "q", {
  holdId: "q.order_id",
  holdIsOpen: "o.state = 'open'",
  taskState: "t.state"
})

export const layerIdempotencyKeys = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const { claimRows } = yield* Distribution
    const { equals } = makeConditions(sql)

    const purge = deleteInBatches((limit) =>
      claimRows({
        due: sql`idempotency_keys WHERE expires_at <= now()`,
        limit,
        claim: (route, rest, _: ReadonlyArray<object>) => sql`
          /* Skips locked keys: a request is about to use the key again. */
          DELETE FROM idempotency_keys q
           USING (SELECT organization_id, key FROM idempotency_keys
                   WHERE expires_at <= now() AND ${equals("organization_id", route)}
                   ORDER BY expires_at LIMIT ${rest}
                     FOR UPDATE SKIP LOCKED) old
           WHERE q.organization_id = old.organization_id AND q.key = old.key
             AND ${equals("q.organization_id", route)}
          RETURNING q.key`
      })
    )

    return yield* makeIdempotencyKeys({
      find: Effect.fnUntraced(function* (organizationId, key) {
        const [row] = yield* rowsOf(StoredRequest)(
          retryBriefly(sql`
            SELECT ${sql.literal(requestColumns)}
              FROM idempotency_keys q
              JOIN orders o ON o.organization_id = q.organization_id AND o.id = q.order_id
              LEFT JOIN tasks t ON t.organization_id = q.organization_id AND t.id = q.order_id
             WHERE q.organization_id = ${organizationId} AND q.key = ${key}
               AND q.expires_at > now()`)
        )
        return row ?? null
      }),
      purge: Effect.asVoid(purge)
    })
  })
)
