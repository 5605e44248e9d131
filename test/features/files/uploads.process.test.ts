/** What an upload may be, how much of them an organisation may have, and when their bytes go. */
import { assert, it, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerBucketS3 } from "../../../src/features/archive/BucketS3.ts"
import { Bucket, objectKeyOf } from "../../../src/services/results/ArchiveBucket.ts"
import { layerSimulator } from "../../../src/simulator/Simulator.ts"
import { connect, startGateway } from "../../support/cluster.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../../support/gateway.ts"
import {
  type Environment,
  prepareCustomer,
  processEnvironment
} from "../../support/gatewayProcesses.ts"
import { errorOf } from "../../support/orders.ts"
import { archiveEnvironmentOf, s3Server } from "../../support/s3Server.ts"
import {
  fileNamed,
  formOf,
  MP3,
  type Parts,
  PNG,
  sendForm,
  uploaded
} from "../../support/uploads.ts"

const MAX_BYTES = 5000
const settings = {
  ...quickSettings,
  maxFileBytes: MAX_BYTES,
  organizationFiles: 6,
  organizationFileBytes: 5 * PNG.length + 100
}

const Rows = Schema.Array(Schema.Struct({ files: Schema.Int, bytes: Schema.Int }))

/** What the organisation has, with what is on its way in and out. */
const taken = (organizationId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`
      SELECT count(*)::int AS files, coalesce(sum(bytes), 0)::int AS bytes FROM files
       WHERE organization_id = ${organizationId}`
    const [row = { files: 0, bytes: 0 }] = Schema.decodeUnknownSync(Rows)(rows)
    return row
  })

const whenEmpty = (organizationId: string) =>
  taken(organizationId).pipe(
    Effect.delay("10 millis"),
    Effect.repeat({ until: ({ files }) => files === 0 })
  )

const file = (bytes: Uint8Array, name = "file") =>
  [name, fileNamed("a.png", bytes, "image/png")] as const
const purpose = ["purpose", "vision"] as const

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, settings), { excludeTestServices: true, timeout: "60 seconds" })(
    `uploads (${kind})`,
    (it) => {
      it.effect("are refused by the field that is wrong, and leave nothing", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const rows: ReadonlyArray<readonly [Parts, number, string, RegExp]> = [
            [[purpose], 400, "file", /required/],
            [[purpose, ["file", "just text"]], 400, "file", /not a text/],
            [[purpose, file(PNG), file(MP3)], 400, "file", /one file/],
            [[purpose, file(Buffer.alloc(0))], 400, "file", /something in it/],
            [[purpose, file(Buffer.alloc(MAX_BYTES + 1, PNG))], 413, "file", /5000 bytes/],
            // Its name and its type say that it is a picture.
            [[purpose, file(Buffer.from("<svg xmlns='x'/>"))], 400, "file", /a picture \(png/],
            [[file(PNG)], 400, "purpose", /required/],
            [[["purpose", "fun"], file(PNG)], 400, "purpose", /user_data/],
            [[purpose, file(PNG, "flie")], 400, "flie", /did you mean file/],
            [
              [purpose, ["expires_after[seconds]", "3599"], file(PNG)],
              400,
              "expires_after[seconds]",
              /3600 to 86400/
            ],
            [
              [purpose, ["expires_after[seconds]", "86401"], file(PNG)],
              400,
              "expires_after[seconds]",
              /3600 to 86400/
            ],
            [
              [purpose, ["expires_after[seconds]", "1e4"], file(PNG)],
              400,
              "expires_after[seconds]",
              /3600 to 86400/
            ],
            [
              [purpose, ["expires_after[anchor]", "now"], file(PNG)],
              400,
              "expires_after[anchor]",
              /created_at/
            ]
          ]
          for (const [parts, status, param, message] of rows) {
            const answer = yield* sendForm(who, parts)
            const error = yield* errorOf(answer)
            assert.strictEqual(answer.status, status, answer.text)
            assert.strictEqual(error.param, param, answer.text)
            assert.match(error.message, message)
          }
          const json = yield* gateway.call("/v1/files", {
            key: who.key,
            json: { purpose: "vision" }
          })
          assert.strictEqual((yield* errorOf(json)).code, "unsupported_media_type")
          assert.deepStrictEqual(yield* taken(who.organizationId), { files: 0, bytes: 0 })
        })
      )

      it.effect("are bounded together, however many come at once", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const other = yield* gateway.customer("1")
          const answers = yield* Effect.forEach(
            Array.from({ length: 20 }),
            () => sendForm(who, formOf(PNG)),
            { concurrency: "unbounded" }
          )
          const statuses = answers.map(({ status }) => status)
          assert.strictEqual(statuses.filter((status) => status === 200).length, 5)
          assert.strictEqual(statuses.filter((status) => status === 413).length, 15)
          assert.deepStrictEqual(yield* taken(who.organizationId), {
            files: 5,
            bytes: 5 * PNG.length
          })
          const refused = yield* sendForm(who, formOf(PNG))
          const error = yield* errorOf(refused)
          assert.deepInclude(error, { code: "payload_too_large", param: "file" })
          const small = PNG.subarray(0, 20)
          yield* uploaded(who, small)
          const seventh = yield* errorOf(yield* sendForm(who, formOf(small)))
          assert.match(seventh.message, /6 files at most/)
          yield* uploaded(other, PNG)

          // What is deleted or has expired makes room, once its bytes are gone.
          const [first] = answers.flatMap(({ body: { id } }) =>
            typeof id === "string" ? [id] : []
          )
          yield* gateway.call(`/v1/files/${first}`, { method: "DELETE", key: who.key })
          const sql = yield* SqlClient.SqlClient
          yield* sql`
            UPDATE files SET due_at = now(), expires_at = now()
             WHERE organization_id = ${who.organizationId} AND state = 'kept'`
          yield* whenEmpty(who.organizationId)
          const left = yield* sql`
            SELECT 1 FROM file_chunks WHERE organization_id = ${who.organizationId}`
          assert.strictEqual(left.length, 0)
          yield* uploaded(who, PNG)
        })
      )
    }
  )
}

layer(layerTestGateway("postgres", settings), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("uploads of one organisation", (it) => {
  it.effect("are counted one after the other, wherever they come in", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      const { organizationId, ...who } = yield* gateway.customer("1")
      const all = settings.organizationFileBytes
      const upload = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`
            SELECT add_file(${organizationId}, 'file_1', 'm', 'a', 'vision', 'image/png', ${all}::int,
                            NULL, false, '1 hour', '1 hour', 9, ${all}::bigint)`
          const upload = yield* Effect.forkChild(sendForm({ organizationId, ...who }, formOf(PNG)))
          // It waits for what is not committed yet.
          yield* sql`SELECT 1 FROM pg_locks WHERE NOT granted`.pipe(
            Effect.delay("10 millis"),
            Effect.repeat({ until: (rows) => rows.length === 1 })
          )
          return upload
        })
      )
      assert.strictEqual((yield* Fiber.join(upload)).status, 413)
    })
  )
})

const Row = Schema.Struct({ id: Schema.String, state: Schema.String })

for (const [place, isStored] of [
  ["file.placed", false],
  ["file.stored", true]
] as const) {
  it.live(
    `a gateway that is killed at ${place} leaves nothing of the file for ever`,
    () =>
      Effect.gen(function* () {
        const at = yield* s3Server
        const bucket = Context.get(yield* Layer.build(layerBucketS3(at)), Bucket)
        assert.isNotNull(bucket)
        if (bucket === null) return
        const env: Environment = {
          ...(yield* processEnvironment("postgres")),
          ...archiveEnvironmentOf(at)
        }
        const first = yield* startGateway({ ...env, KILL_AT: place })
        const { key, organizationPath } = yield* prepareCustomer(first, "1")
        const organizationId = organizationPath.split("/").at(-1) ?? ""
        const form = new FormData()
        form.append("purpose", "vision")
        form.append("file", fileNamed("a.png", PNG))
        const headers = { authorization: `Bearer ${key}` }
        yield* Effect.forkChild(
          Effect.promise(() =>
            fetch(`${first.url}/v1/files`, { method: "POST", headers, body: form }).catch(
              () => null
            )
          )
        )
        assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

        const sql = yield* connect(env.DATABASE_URL ?? "")
        const rows = Effect.map(
          sql`SELECT id, state FROM files`,
          Schema.decodeUnknownSync(Schema.Array(Row))
        )
        const [row] = yield* rows
        assert.strictEqual(row?.state, "pending")
        const stored = bucket
          .get(objectKeyOf(organizationId, row?.id ?? "", 0), null)
          .pipe(Effect.scoped, Effect.result, Effect.map(Result.isSuccess))
        assert.strictEqual(yield* stored, isStored)

        const second = yield* startGateway(env)
        const list = Effect.promise(async () =>
          (await fetch(`${second.url}/v1/files`, { headers })).text()
        )
        assert.include(yield* list, '"data":[]')
        // The time that an upload has is over.
        yield* sql`UPDATE files SET due_at = now()`
        yield* rows.pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: (left) => left.length === 0 })
        )
        assert.isFalse(yield* stored)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )
}
