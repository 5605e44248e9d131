/** Lasting keys in PostgreSQL, sealed under the master key like the keys of channels. */
import { Effect, Layer, Redacted, Schema } from "effect"
import { Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { derivedBy, type LastingKey, LastingKeys } from "../services/LastingKeys.ts"
import { Vault } from "../services/Vault.ts"
import { decodeRows } from "./rows.ts"

const KeyRow = Schema.Struct({
  name: Schema.String,
  key_id: Schema.String,
  sealed_key: Schema.Uint8Array
})

const SealerRow = Schema.Struct({ key_id: Schema.String })

/** No channel has such an id, so that neither's secret can take the place of the other's. */
export const subjectOf = (name: string): string => `the deployment (${name})`

/**
 * Opens the lasting keys. One that is not kept yet is first derived from the master key that has
 * sealed what is in the database, so that a first start with a new master key beside the previous
 * one still keeps what the previous one gave. Gateways that start together derive the same. Fails
 * when a key, or what is sealed where none is kept, needs a master key that is not at hand.
 */
export const lastingKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault

  const kept = Effect.map(
    decodeRows(KeyRow)(sql`SELECT name, key_id, sealed_key FROM vault_keys`),
    (rows) => new Map(rows.map((row) => [row.name, row]))
  )

  const origin = Effect.map(
    decodeRows(SealerRow)(
      sql`SELECT DISTINCT key_id FROM channel_accounts WHERE key_id IS NOT NULL ORDER BY key_id`
    ),
    (rows) => {
      const sealers = rows.map((row) => row.key_id)
      const oldestFirst = vault.keyIds.toReversed()
      const [oldest = vault.keyIds[0]] = oldestFirst
      return oldestFirst.find((keyId) => sealers.includes(keyId)) ?? sealers[0] ?? oldest
    }
  )

  const keep = Effect.fnUntraced(function* (name: string) {
    const key = yield* vault.derive(name, yield* origin)
    const text = Redacted.make(Hex.encode(Redacted.value(key)))
    const { keyId, bytes } = yield* vault.seal(text, subjectOf(name))
    yield* sql`
      INSERT INTO vault_keys (name, key_id, sealed_key) VALUES (${name}, ${keyId}, ${bytes})
      ON CONFLICT (name) DO NOTHING`
  })

  const known = yield* kept
  for (const name of Object.values(derivedBy)) if (!known.has(name)) yield* keep(name)
  const rows = yield* kept

  const open = Effect.fnUntraced(function* (key: LastingKey) {
    const name = derivedBy[key]
    const row = rows.get(name)
    if (row === undefined) return yield* Effect.die(new Error(`the key ${name} was not kept`))
    const text = yield* vault.open({ keyId: row.key_id, bytes: row.sealed_key }, subjectOf(name))
    const bytes = yield* Effect.orDie(Effect.fromResult(Hex.decode(Redacted.value(text))))
    return Redacted.make(bytes)
  })

  return LastingKeys.of({
    apiKeyHash: yield* open("apiKeyHash"),
    demoApiKey: yield* open("demoApiKey")
  })
})

export const layerLastingKeys = Layer.effect(LastingKeys, lastingKeys)
