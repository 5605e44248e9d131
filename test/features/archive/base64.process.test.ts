/** Images that are read later and come in base64 stand in the archive, and nowhere in the database. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type ArchiveBucket,
  Bucket,
  BucketFault
} from "../../../src/services/results/ArchiveBucket.ts"
import { archiving, bucket, bytes } from "../../support/archives.ts"
import { brokenVendor } from "../../support/brokenVendor.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { databaseText } from "../../support/databaseText.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../../support/gateway.ts"
import { moveTo } from "../../support/orders.ts"
import { orphanOf } from "../../support/orphans.ts"

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), bytes.subarray(0, 700_000)])
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), bytes.subarray(7, 60_000)])

const webp = Buffer.concat([Buffer.from("RIFF\n\n\n\nWEBP", "latin1"), bytes.subarray(9, 5000)])
const gif = Buffer.concat([Buffer.from("GIF89a", "latin1"), bytes.subarray(3, 5000)])

const Accepted = Schema.Struct({ id: Schema.String })
const Ended = Schema.Struct({
  task_status: Schema.String,
  data: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.String)))
})

/** Images of a vendor that answers these entries; the id and what reading it at its end tells. */
const ordered = Effect.fnUntraced(function* (who: Customer, data: ReadonlyArray<object>) {
  const gateway = yield* Gateway
  const vendor = yield* brokenVendor({ body: JSON.stringify({ created: 1, data }) })
  yield* moveTo(vendor.url)
  const accepted = yield* gateway.call("/v1/images/generations", {
    key: who.key,
    headers: { prefer: "respond-async" },
    json: { model: "paint-1", prompt: "x", n: data.length, response_format: "b64_json" }
  })
  assert.strictEqual(accepted.status, 202, accepted.text)
  const { id } = yield* bodyAs(Accepted, accepted)
  const read = yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
  yield* moveTo(null)
  return { id, ended: yield* bodyAs(Ended, read) }
})

const loaded = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    const body = Buffer.from(await response.arrayBuffer())
    return { type: response.headers.get("content-type"), body }
  })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, archiving, { bucket }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`images in base64 (${kind})`, (it) => {
    it.effect("are told by links as soon as they are charged", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const { ended } = yield* ordered(who, [
          { b64_json: png.toString("base64"), revised_prompt: "a secret" },
          { url: `data:image/jpeg;base64,${jpeg.toString("base64")}` },
          { b64_json: webp.toString("base64") },
          { b64_json: gif.toString("base64") }
        ])
        assert.strictEqual(ended.task_status, "succeeded")
        assert.deepStrictEqual(ended.data?.map(Object.keys), Array(4).fill(["url"]))
        const files = yield* Effect.forEach(ended.data ?? [], ({ url = "" }) => loaded(url))
        assert.deepStrictEqual(
          files.map(({ type }) => type),
          ["image/png", "image/jpeg", "image/webp", "image/gif"]
        )
        assert.isTrue(files[0]?.body.equals(png))
        assert.isTrue(files[1]?.body.equals(jpeg))
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.2", held: "0" })
        const stored = yield* databaseText
        assert.notInclude(stored, png.toString("base64").slice(300, 360))
        assert.notInclude(stored, "a secret")
      })
    )

    it.effect("beside addresses are charged as what cannot be read, and leave no file", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const who = yield* gateway.customer("1")
        const { id, ended } = yield* ordered(who, [
          { b64_json: png.toString("base64") },
          { url: "https://media.test/one.png" }
        ])
        assert.strictEqual(ended.task_status, "failed")
        assert.isNotNull(yield* orphanOf(id))
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.6", held: "0" })
        const rows = yield* sql`SELECT state FROM archives WHERE task_id = ${id}`
        assert.deepStrictEqual(rows, [{ state: "removing" }])
        yield* gateway.verify
      })
    )
  })
}

const away = new BucketFault({ message: "the bucket is away" })
const brokenBucket: ArchiveBucket = {
  put: () => away,
  get: () => away,
  removeAll: () => away,
  presign: () => away
}

layer(layerTestGateway("embedded", archiving, { bucket: Layer.succeed(Bucket, brokenBucket) }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("images in base64, while the bucket is away", (it) => {
  it.effect("are not charged, and the operator hears of them", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const { id, ended } = yield* ordered(who, [{ b64_json: png.toString("base64") }])
      assert.strictEqual(ended.task_status, "failed")
      assert.isNotNull(yield* orphanOf(id))
      assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
      yield* gateway.verify
    })
  )
})
