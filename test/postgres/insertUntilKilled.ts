/** Inserts rows into the embedded database in DATA_DIR and prints the id of each answered commit. */

import { writeSync } from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"

const print = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`))

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS entries (id bigint GENERATED ALWAYS AS IDENTITY, half int)`
  yield* print("ready")
  const insertPair = sql
    .withTransaction(
      Effect.gen(function* () {
        yield* sql`INSERT INTO entries (half) VALUES (1)`
        return yield* sql<{ readonly id: bigint }>`
          INSERT INTO entries (half) VALUES (2) RETURNING id`
      })
    )
    .pipe(Effect.flatMap(([row]) => print(`pair ${row?.id}`)))
  const insertOne = sql<{ readonly id: bigint }>`
    INSERT INTO entries (half) VALUES (0) RETURNING id`.pipe(
    Effect.flatMap(([row]) => print(`row ${row?.id}`))
  )
  yield* Effect.all(
    [insertOne, insertOne, insertOne, insertPair, insertPair].map((insert) =>
      Effect.forever(insert)
    ),
    { concurrency: "unbounded" }
  )
})

const layerDatabase = Layer.unwrap(
  Effect.map(Config.String("DATA_DIR"), (dataDir) => layerEmbedded({ dataDir }))
)

NodeRuntime.runMain(Effect.provide(program, layerDatabase))
