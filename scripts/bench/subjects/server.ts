/** The PostgreSQL server of all subjects with a ledger. Each subject has its own database there. */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import { connect } from "../../../test/support/cluster.ts"
import { startPostgres } from "../../../test/support/postgresServer.ts"

const Facts = Schema.Tuple([Schema.Struct({ version: Schema.String, fsync: Schema.String })])
const LogEnd = Schema.Tuple([Schema.Struct({ bytes: Schema.Finite })])

/** Starts a server that flushes every commit, or uses the server at the given URL. */
export const openServer = Effect.fnUntraced(function* (given: string | null) {
  const started =
    given === null
      ? yield* Effect.acquireRelease(
          Effect.promise(() => startPostgres({ settings: { fsync: "on" } })),
          ({ stop }) => Effect.promise(stop)
        )
      : null
  const url = new URL(started?.url ?? given ?? "")
  const sql = yield* connect(url.href)
  const [facts] = yield* sql`
    SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync`.pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Facts)),
    Effect.orDie
  )
  return {
    facts,
    /** The id of the server's main process; null where it was not started here. */
    pid: started?.pid() ?? null,
    /** The end position of the write-ahead log, in bytes. */
    logEnd: sql`SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(LogEnd)),
      Effect.map(([{ bytes }]) => bytes),
      Effect.orDie
    ),
    /** The URL of a new database, which is dropped when the scope closes. */
    temporaryDatabase: Effect.gen(function* () {
      const name = `bench_${randomUUID().replaceAll("-", "")}`
      yield* Effect.acquireRelease(Effect.orDie(sql.unsafe(`CREATE DATABASE ${name}`)), () =>
        Effect.ignore(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
      )
      return Object.assign(new URL(url), { pathname: name }).href
    })
  }
})

export type Server = Effect.Success<ReturnType<typeof openServer>>
