/** Sealing everything again under the current master key. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { originOf } from "../../domain/catalog/origin.ts"
import { Vault } from "../../services/Vault.ts"
import { decodeRows } from "../client/rows.ts"

const SealedRow = Schema.Struct({
  row: Schema.String,
  subject: Schema.String,
  /** Null for a secret that is sent nowhere. */
  baseUrl: Schema.NullOr(Schema.String),
  keyId: Schema.String,
  bytes: Schema.Uint8Array
})

const ofEndpoint = { table: "webhook_endpoints", subject: "id", baseUrl: "NULL" }

/** Where secrets stand, with the name of their master key and what they were sealed with. */
const places = [
  {
    table: "channel_keys",
    sealed: "sealed_api_key",
    keyId: "key_id",
    subject: "channel_id",
    baseUrl: `(SELECT a.base_url FROM channel_accounts a
                WHERE a.channel_id = t.channel_id AND a.version = t.version)`
  },
  { ...ofEndpoint, sealed: "secret", keyId: "secret_key_id" },
  { ...ofEndpoint, sealed: "old_secret", keyId: "old_secret_key_id" }
] as const

type Place = (typeof places)[number]

const secretsAt = (sql: SqlClient.SqlClient, { table, sealed, keyId, subject, baseUrl }: Place) =>
  decodeRows(SealedRow)(
    sql`SELECT ctid::text AS row, ${sql(subject)} AS subject, ${sql.literal(baseUrl)} AS "baseUrl",
               ${sql(keyId)} AS "keyId", ${sql(sealed)} AS bytes
          FROM ${sql(table)} t WHERE ${sql(sealed)} IS NOT NULL ORDER BY 2`
  )

/** As the stores seal and open it. */
const originIn = ({ baseUrl }: typeof SealedRow.Type): string =>
  baseUrl === null ? "" : (originOf(baseUrl) ?? "")

const openIn = (vault: Vault["Service"], row: typeof SealedRow.Type) =>
  vault.open(row, row.subject, originIn(row))

/** Why secrets cannot be opened under the vault's master keys; changes nothing. */
export const sealedFaults = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const found = yield* Effect.forEach(places, (place) =>
    Effect.flatMap(secretsAt(sql, place), (rows) =>
      Effect.forEach(rows, (row) =>
        openIn(vault, row).pipe(
          Effect.as(null),
          Effect.catch(({ message }) => Effect.succeed(message))
        )
      )
    )
  )
  return found.flat().filter((fault) => fault !== null)
})

/**
 * Opens every secret under the master key of the vault it needs, and seals it under the current one;
 * what is sealed under that already is left. One transaction: if anything cannot be opened, nothing
 * changes. Gateways that have both master keys go on reading; anyone who writes a secret waits.
 * Answers how many secrets were sealed again, and how many there are.
 */
export const reseal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const [current] = vault.keyIds

  const resealAt = Effect.fnUntraced(function* (place: Place) {
    const { table, sealed, keyId } = place
    // A lock on the table and not on the rows, so that nothing sealed under the previous master key
    // is stored meanwhile; it also keeps every row where it stands.
    yield* sql`LOCK TABLE ${sql(table)} IN SHARE ROW EXCLUSIVE MODE`
    const rows = yield* secretsAt(sql, place)
    const old = rows.filter((row) => row.keyId !== current)
    for (const row of old) {
      const fresh = yield* vault.seal(yield* openIn(vault, row), row.subject, originIn(row))
      yield* sql`
        UPDATE ${sql(table)} SET ${sql(keyId)} = ${fresh.keyId}, ${sql(sealed)} = ${fresh.bytes}
         WHERE ctid = ${row.row}::tid`
    }
    return { resealed: old.length, all: rows.length }
  })

  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL lock_timeout = '30s'`
      yield* sql`SET LOCAL statement_timeout = '60s'`
      const done = yield* Effect.forEach(places, resealAt)
      const sum = (of: "resealed" | "all") => done.reduce((total, each) => total + each[of], 0)
      return { masterKeyId: current, resealed: sum("resealed"), all: sum("all") }
    })
  )
})
