/** A database on the run's server whose clock stands where a test puts it. */
import { randomUUID } from "node:crypto"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { asAdmin, layerDatabaseAt } from "./databases.ts"

/** Looked up before the server's own by all that comes later, the schema's defaults included. */
const clock = `
  DO $do$ BEGIN
    CREATE TABLE public.clock (at timestamptz NOT NULL);
    INSERT INTO public.clock VALUES ('2020-01-01T00:00:00Z');
    CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE
      AS 'SELECT at FROM public.clock';
  END $do$`

/** Without a schema, which the first layer of stores makes. */
const databaseWithClock = Effect.gen(function* () {
  const name = `clock_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(asAdmin(`CREATE DATABASE ${name}`), () =>
    Effect.orDie(asAdmin(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  yield* asAdmin(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`)
  const url = new URL(inject("postgresUrl"))
  url.pathname = name
  yield* Effect.scoped(
    Effect.flatMap(Layer.build(layerDatabaseAt(url.href, 1)), (database) =>
      Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(clock)),
        database
      )
    )
  )
  return url.href
})

export const layerDatabaseWithClock = (maxConnections = 8) =>
  Layer.unwrap(Effect.map(databaseWithClock, (url) => layerDatabaseAt(url, maxConnections)))

let shiftMillis = 0

/**
 * Runs the effect by the clock that `setClock` puts forward. It passes on as ever in between, while that
 * of the database stands.
 */
export const onSetClock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((live) => {
    const currentTimeMillisUnsafe = () => live.currentTimeMillisUnsafe() + shiftMillis
    const currentTimeNanosUnsafe = () => BigInt(currentTimeMillisUnsafe()) * 1_000_000n
    return Effect.provideService(effect, Clock.Clock, {
      currentTimeMillisUnsafe,
      currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
      currentTimeNanosUnsafe,
      currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
      monotonicTimeNanosUnsafe: () => live.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: live.monotonicTimeNanos,
      sleep: (duration) => live.sleep(duration)
    })
  })

/** The time from now on, of the database and of `onSetClock`. Ids only go forward with it. */
export const setClock = Effect.fnUntraced(function* (at: string) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`UPDATE public.clock SET at = ${at}::timestamptz`)
  shiftMillis = Date.parse(at) - Date.now()
})

/** An id of an image request as a gateway mints it at that time. */
export const orderIdAt = (at: string): string => {
  const time = Date.parse(at).toString(16).padStart(12, "0")
  const random = randomUUID()
  return `im_${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}
