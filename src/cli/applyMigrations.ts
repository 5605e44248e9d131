#!/usr/bin/env node
/**
 * Brings the database in `DATABASE_URL`, or the embedded one in `DATA_DIR`, up to the last migration
 * of this version. May be run again at any time, and beside gateways: who comes second finds nothing
 * to do.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { loadConfig } from "../config.ts"
import { layerPostgres } from "../postgres/client/databaseClient.ts"
import { layerEmbedded } from "../postgres/embedded/EmbeddedPostgres.ts"
import { applySchema } from "../postgres/schema/applySchema.ts"
import { reportingFailure } from "../run.ts"

const program = Effect.gen(function* () {
  const { databaseUrl, dataDir } = yield* loadConfig
  const applied = yield* applySchema.pipe(
    Effect.provide(
      databaseUrl === null
        ? layerEmbedded({ dataDir })
        : layerPostgres({ url: databaseUrl, maxConnections: 1 })
    )
  )
  yield* Console.log(
    applied.length === 0
      ? "The database has every migration"
      : `Applied: ${applied.map(([id, name]) => `${id} ${name}`).join(", ")}`
  )
}).pipe(Effect.provide(NodeServices.layer), reportingFailure("The database was not migrated"))

NodeRuntime.runMain(program, { disableErrorReporting: true })
