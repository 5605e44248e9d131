/** Tests of the archive: a bucket behind a real S3 protocol, and vendors whose files are copied into it. */
import { createHash } from "node:crypto"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerBucketS3 } from "../../src/features/archive/BucketS3.ts"
import { brokenVendor, type Reply } from "./brokenVendor.ts"
import { bodyAs, type Customer, Gateway, quickSettings } from "./gateway.ts"
import { moveTo } from "./orders.ts"
import { s3Server } from "./s3Server.ts"

export const archiving = { ...quickSettings, hasArchive: true, webhookAllowPrivate: true }

export const bucket = Layer.unwrap(Effect.map(s3Server, layerBucketS3))

export const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

export const load = (
  who: Customer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  options: RequestInit = {}
) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async (signal) => {
      const response = await fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${who.key}`, ...headers },
        signal,
        ...options
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      return { status: response.status, headers: response.headers, bytes }
    })
  )

/** When the results of the task are where they should be. */
export const inState = (id: string, state: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = sql`SELECT reason FROM archives WHERE task_id = ${id} AND state = ${state}`
    return yield* rows.pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (rows) => rows.length === 1 })
    )
  })

/** Makes an image whose file is answered as told; answers the path of the file. */
export const imageWith = Effect.fnUntraced(function* (
  who: Customer,
  query: string,
  answer: () => Reply
) {
  const gateway = yield* Gateway
  const vendor = yield* brokenVendor(({ method, headers }) =>
    method === "GET"
      ? answer()
      : { body: { created: 1, data: [{ url: `http://${headers.host}/one.png${query}` }] } }
  )
  yield* moveTo(vendor.url)
  const ordered = yield* gateway.call("/v1/images/generations", {
    key: who.key,
    headers: { prefer: "respond-async" },
    json: { model: "paint-1", prompt: "x" }
  })
  const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), ordered)
  yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
  return { id, path: `/v1/images/${id}/content/0` }
})

export const picture = (body: Uint8Array): Reply => ({
  headers: { "content-type": "image/png", "content-length": String(body.length) },
  body: Buffer.from(body)
})
/** Longer than a part of an upload. */
export const bytes = new Uint8Array(9 * 1024 * 1024).map((_, index) => (index * 7) % 251)
