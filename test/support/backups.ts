/** Copies of a running server's files, from which another server starts. */
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type PostgresServer, startPostgres } from "./postgresServer.ts"

/** A server that is stopped, and whose files are removed, when the scope closes. */
export const serverOf = (options: Parameters<typeof startPostgres>[0]) =>
  Effect.acquireRelease(
    Effect.promise(() => startPostgres(options)),
    ({ stop }) => Effect.promise(stop)
  )

/** A folder that is removed when the scope closes. */
export const folderFor = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), `media-gateway-${name}-`))
      // PostgreSQL runs as another user where the tests run as root.
      chmodSync(folder, 0o777)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const Place = Schema.Tuple([Schema.Struct({ place: Schema.String })])
const Label = Schema.Tuple([Schema.Struct({ label: Schema.String })])

/** By the low-level interface: the server may be written meanwhile, and its log is copied elsewhere. */
export const backUp = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, folder: string) {
  const [{ place }] = yield* Schema.decodeUnknownEffect(Place)(
    yield* sql`SELECT current_setting('data_directory') AS place`
  )
  yield* sql`SELECT pg_backup_start('test', true)::text`
  for (const name of readdirSync(place)) {
    if (/^(pg_wal|postmaster\..*)$/.test(name)) continue
    cpSync(join(place, name), join(folder, name), { recursive: true })
  }
  mkdirSync(join(folder, "pg_wal"))
  const [{ label }] = yield* Schema.decodeUnknownEffect(Label)(
    yield* sql`SELECT labelfile AS label FROM pg_backup_stop(true)`
  )
  writeFileSync(join(folder, "backup_label"), label)
})

/** A standby of the server, made of the files of a backup. */
export const standbyOf = Effect.fnUntraced(function* (primary: PostgresServer, files: string) {
  const { hostname, port, username, password } = new URL(primary.url)
  writeFileSync(join(files, "standby.signal"), "")
  appendFileSync(
    join(files, "postgresql.auto.conf"),
    `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'\n`
  )
  return yield* serverOf({ restored: { files, url: primary.url } })
})
