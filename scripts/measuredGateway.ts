/** A gateway as it is shipped, on either kind of database, for scripts that measure it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { ADMIN_TOKEN, good, startGateway } from "../test/support/cluster.ts"
import { call } from "../test/support/http.ts"
import { makeOperator } from "../test/support/operator.ts"
import { startPostgres } from "../test/support/postgresServer.ts"
import { gatewayEntry } from "./bench/subjects/ours.ts"

const databases = ["embedded", "postgres"] as const
export type Database = (typeof databases)[number]

/** The databases that `--database` selects: one of them, or both. */
export const databasesNamed = (name: string): ReadonlyArray<Database> =>
  databases.filter((kind) => name === "both" || name === kind)

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-measured-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const postgres = Effect.acquireRelease(
  Effect.promise(() => startPostgres()),
  (server) => Effect.promise(() => server.stop())
)

/** Starts a gateway whose only model, `paint-1`, is mounted on the vendor's channel. */
export const startMeasured = Effect.fnUntraced(function* (kind: Database, vendorUrl: string) {
  const database: Readonly<Record<string, string>> =
    kind === "embedded"
      ? { DATA_DIR: yield* temporaryDirectory }
      : { DATABASE_URL: (yield* postgres).url }
  const gateway = yield* startGateway({ ...database, NODE_NO_WARNINGS: "1" }, gatewayEntry)
  const operator = makeOperator((path, sent) => call(`${gateway.url}${path}`, sent), ADMIN_TOKEN)
  const catalog = {
    channels: [{ id: "ch", name: "A", base_url: vendorUrl, api_key: "vendor-key-aaaa" }],
    models: [
      {
        id: "paint-1",
        modality: "image",
        protocol: "ip_a",
        prices: { kind: "image", per_image: "0.2" }
      }
    ],
    mounts: [{ model: "paint-1", channel: "ch", upstream_model: "vendor-paint-1" }]
  }
  yield* Effect.flatMap(operator.admin("/catalog", { method: "PUT", json: catalog }), (answer) =>
    good(Schema.Unknown, answer)
  )
  const order = (key: string, fields: object) =>
    call(`${gateway.url}/v1/images/generations`, { key, json: { model: "paint-1", ...fields } })
  return { gateway, operator, order }
})
