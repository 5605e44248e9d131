/** Sealing everything again under the current master key. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Vault } from "../../services/Vault.ts"
import { decodeRows } from "../client/rows.ts"

const SealedRow = Schema.Struct({
  channel_id: Schema.String,
  name: Schema.String,
  key_id: Schema.String,
  sealed_api_key: Schema.Uint8Array
})

/**
 * Opens every channel's key under the master key of the vault it needs, and seals it under the
 * current one; what is sealed under that already is left. One transaction: if anything cannot be
 * opened, nothing changes. Gateways that have both master keys go on reading; anyone who writes a
 * channel's key waits. Answers how many keys were sealed again, and how many there are.
 */
export const reseal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const [current] = vault.keyIds

  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL lock_timeout = '30s'`
      yield* sql`SET LOCAL statement_timeout = '60s'`
      // A lock on the table and not on the rows, so that no key sealed under the previous master
      // key is stored meanwhile.
      yield* sql`LOCK TABLE channel_keys IN SHARE ROW EXCLUSIVE MODE`
      const rows = yield* decodeRows(SealedRow)(
        sql`SELECT channel_id, name, key_id, sealed_api_key FROM channel_keys
             ORDER BY channel_id, name`
      )
      const old = rows.filter((row) => row.key_id !== current)
      for (const { channel_id, name, key_id, sealed_api_key } of old) {
        const secret = yield* vault.open({ keyId: key_id, bytes: sealed_api_key }, channel_id)
        const { keyId, bytes } = yield* vault.seal(secret, channel_id)
        yield* sql`
          UPDATE channel_keys SET key_id = ${keyId}, sealed_api_key = ${bytes}
           WHERE channel_id = ${channel_id} AND name = ${name}`
      }
      return { masterKeyId: current, resealed: old.length, all: rows.length }
    })
  )
})
