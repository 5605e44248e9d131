/** Rotation of the master key: encrypts stored responses again under the current one. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { retryBriefly, rowsOf } from "../../postgres/client/rows.ts"
import { Vault } from "../../services/Vault.ts"
import { subjectOf } from "./StoredResponsesPostgres.ts"

/** A response may have some megabytes, so that few are in memory at a time. */
const BATCH = 20

const SealedResponse = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  keyId: Schema.String,
  bytes: Schema.Uint8Array
})
type SealedResponse = typeof SealedResponse.Type

/**
 * Encrypts every stored response that a previous master key has encrypted again under the current
 * one, each by a statement of its own, so that it may be repeated after an interruption. A response
 * whose master key is gone stays as it is, since it is not found either way. Returns how many were
 * encrypted again, and how many could not be.
 */
export const resealResponses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const [current] = vault.keyIds

  const readAfter = (last: Pick<SealedResponse, "organizationId" | "id">) =>
    rowsOf(SealedResponse)(
      retryBriefly(sql`
        SELECT organization_id AS "organizationId", id, key_id AS "keyId", content AS bytes
          FROM responses
         WHERE key_id <> ${current} AND (organization_id, id) > (${last.organizationId}, ${last.id})
         ORDER BY organization_id, id LIMIT ${BATCH}`)
    )

  /** False where its master key is gone. A response that is deleted meanwhile stays deleted. */
  const resealOne = (row: SealedResponse) => {
    const subject = subjectOf(row.organizationId, row.id)
    return vault.open(row, subject, "").pipe(
      Effect.flatMap((json) => vault.seal(json, subject, "")),
      Effect.flatMap(({ keyId, bytes }) =>
        retryBriefly(sql`
          UPDATE responses SET key_id = ${keyId}, content = ${bytes}
           WHERE organization_id = ${row.organizationId} AND id = ${row.id}
             AND key_id = ${row.keyId}`)
      ),
      Effect.as(true),
      Effect.catchTag("CannotOpen", () => Effect.succeed(false))
    )
  }

  const counts = { resealed: 0, unreadable: 0 }
  let rows = yield* readAfter({ organizationId: "", id: "" })
  while (rows.length > 0) {
    for (const row of rows) counts[(yield* resealOne(row)) ? "resealed" : "unreadable"] += 1
    rows = yield* readAfter(rows[rows.length - 1] ?? { organizationId: "", id: "" })
  }
  return counts
})
