/** Rotation of the master key: seals every secret again under the current one. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { originOf } from "../../domain/catalog/origin.ts"
import { Vault } from "../../services/Vault.ts"
import { decodeRows } from "../client/rows.ts"

const SealedRow = Schema.Struct({
  row: Schema.String,
  subject: Schema.String,
  /** Null for a secret that is not sent to any address. */
  baseUrl: Schema.NullOr(Schema.String),
  keyId: Schema.String,
  bytes: Schema.Uint8Array
})

const endpointTable = { table: "webhook_endpoints", subject: "id", row: "id", baseUrl: "NULL" }

/**
 * The columns with secrets, each with the column of the master key's id. `subject` and `baseUrl`
 * are the id and the address that the secrets are sealed for. `row` differs for the rows of a
 * subject.
 */
const secretColumns = [
  {
    table: "channel_keys",
    sealed: "sealed_api_key",
    keyId: "key_id",
    subject: "channel_id",
    row: "version::text || ' ' || name",
    baseUrl: `(SELECT a.base_url FROM channel_accounts a
                WHERE a.channel_id = t.channel_id AND a.version = t.version)`
  },
  { ...endpointTable, sealed: "secret", keyId: "secret_key_id" },
  { ...endpointTable, sealed: "old_secret", keyId: "old_secret_key_id" }
] as const

type SecretColumn = (typeof secretColumns)[number]

const readSecrets = (
  sql: SqlClient.SqlClient,
  { table, sealed, keyId, subject, row, baseUrl }: SecretColumn
) =>
  decodeRows(SealedRow)(
    sql`SELECT ${sql.literal(row)} AS row, ${sql(subject)} AS subject, ${sql.literal(baseUrl)} AS "baseUrl",
               ${sql(keyId)} AS "keyId", ${sql(sealed)} AS bytes
          FROM ${sql(table)} t WHERE ${sql(sealed)} IS NOT NULL ORDER BY 2`
  )

/**
 * The origin that the secret was sealed for; empty for a secret that is not sent to any address.
 */
const originOfRow = ({ baseUrl }: typeof SealedRow.Type): string =>
  baseUrl === null ? "" : (originOf(baseUrl) ?? "")

const openRow = (vault: Vault["Service"], row: typeof SealedRow.Type) =>
  vault.open(row, row.subject, originOfRow(row))

/**
 * Reports why secrets cannot be opened under the vault's master keys: one message for each such
 * secret. Changes nothing.
 */
export const sealedFaults = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const rows = yield* Effect.forEach(secretColumns, (column) => readSecrets(sql, column))
  const faults = yield* Effect.forEach(rows.flat(), (row) =>
    openRow(vault, row).pipe(
      Effect.as(null),
      Effect.catch(({ message }) => Effect.succeed(message))
    )
  )
  return faults.filter((fault) => fault !== null)
})

/**
 * Opens every secret with the master key that sealed it, and seals it with the current master key;
 * secrets of the current key are skipped. All of this is one transaction: if any secret cannot be
 * opened, nothing changes. Gateways that have both master keys can read secrets in the meantime;
 * writers of secrets wait. Returns how many secrets were sealed again, and how many there are.
 */
export const reseal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const [current] = vault.keyIds

  const resealColumn = Effect.fnUntraced(function* (column: SecretColumn) {
    const { table, sealed, keyId, subject } = column
    // The lock is on the table and not on its rows, so that no secret under the previous master key
    // is inserted in the meantime.
    yield* sql`LOCK TABLE ${sql(table)} IN SHARE ROW EXCLUSIVE MODE`
    const rows = yield* readSecrets(sql, column)
    const old = rows.filter((row) => row.keyId !== current)
    for (const row of old) {
      const resealedSecret = yield* vault.seal(
        yield* openRow(vault, row),
        row.subject,
        originOfRow(row)
      )
      yield* sql`
        UPDATE ${sql(table)} SET ${sql(keyId)} = ${resealedSecret.keyId}, ${sql(sealed)} = ${resealedSecret.bytes}
         WHERE ${sql(subject)} = ${row.subject} AND ${sql.literal(column.row)} = ${row.row}`
    }
    return { resealed: old.length, all: rows.length }
  })

  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL lock_timeout = '30s'`
      yield* sql`SET LOCAL statement_timeout = '60s'`
      const counts = yield* Effect.forEach(secretColumns, resealColumn)
      const sum = (field: "resealed" | "all") =>
        counts.reduce((total, count) => total + count[field], 0)
      return { masterKeyId: current, resealed: sum("resealed"), all: sum("all") }
    })
  )
})
