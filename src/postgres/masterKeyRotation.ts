/** Sealing everything anew under the current master key. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Sealed, Vault } from "../services/Vault.ts"
import { lastingKeys, subjectOf } from "./LastingKeys.ts"
import { decodeRows } from "./rows.ts"

const SealedRow = Schema.Struct({
  name: Schema.String,
  key_id: Schema.String,
  sealed: Schema.Uint8Array
})

/** How many secrets were sealed anew, and how many there are. */
export interface Resealed {
  readonly resealed: number
  readonly all: number
}

/**
 * Opens every channel's key and every lasting key under whichever master key of the vault it needs,
 * and seals it under the current one; what is sealed under that already is left. One transaction:
 * if anything cannot be opened, nothing changes. Gateways that have both master keys go on reading;
 * whoever writes a channel's key waits.
 */
export const reseal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const [current] = vault.keyIds

  const resealAll = Effect.fnUntraced(function* <E>(
    rows: ReadonlyArray<typeof SealedRow.Type>,
    subject: (name: string) => string,
    write: (name: string, sealed: Sealed) => Effect.Effect<unknown, E>
  ) {
    const old = rows.filter((row) => row.key_id !== current)
    for (const row of old) {
      const about = subject(row.name)
      const secret = yield* vault.open({ keyId: row.key_id, bytes: row.sealed }, about)
      yield* write(row.name, yield* vault.seal(secret, about))
    }
    return { resealed: old.length, all: rows.length } satisfies Resealed
  })

  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL lock_timeout = '30s'`
      yield* sql`SET LOCAL statement_timeout = '60s'`
      // A lock on the tables and not on the rows, so that no key sealed under the previous master
      // key is stored meanwhile.
      yield* sql`LOCK TABLE channel_accounts, vault_keys IN SHARE ROW EXCLUSIVE MODE`
      yield* lastingKeys
      const keys = yield* decodeRows(SealedRow)(
        sql`SELECT name, key_id, sealed_key AS sealed FROM vault_keys ORDER BY name`
      )
      const channels = yield* decodeRows(SealedRow)(
        sql`SELECT channel_id AS name, key_id, sealed_api_key AS sealed FROM channel_accounts
             WHERE sealed_api_key IS NOT NULL ORDER BY channel_id`
      )
      return {
        masterKeyId: current,
        keys: yield* resealAll(
          keys,
          subjectOf,
          (name, { keyId, bytes }) => sql`
            UPDATE vault_keys SET key_id = ${keyId}, sealed_key = ${bytes} WHERE name = ${name}`
        ),
        channels: yield* resealAll(
          channels,
          (channelId) => channelId,
          (channelId, { keyId, bytes }) => sql`
            UPDATE channel_accounts SET key_id = ${keyId}, sealed_api_key = ${bytes}
             WHERE channel_id = ${channelId}`
        )
      }
    })
  )
})
