/** Another master key takes the place of the first: nobody with an API key notices. */
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook } from "standardwebhooks"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import { layerDatabaseAt, temporaryDataDir, temporaryServerDatabase } from "../support/databases.ts"
import { databaseColumns } from "../support/databaseText.ts"
import { prepareCustomer, shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { bodyAs } from "../support/operator.ts"
import { startable, startProcess } from "../support/processes.ts"
import { makeReceiver } from "../support/receiver.ts"
import { textCatalog } from "../support/textCatalog.ts"

const command = startable(
  fileURLToPath(new URL("../../src/cli/rotateMasterKey.ts", import.meta.url))
)

const masterKey = (letter: string) => Buffer.from(letter.repeat(32)).toString("base64")
const [first, second, stranger] = [masterKey("o"), masterKey("n"), masterKey("s")]

const only = (key: string) => ({ GATEWAY_MASTER_KEY: key })
const both = { GATEWAY_MASTER_KEY: second, GATEWAY_MASTER_KEY_PREVIOUS: first }

/** Runs a program to its end. */
const run = Effect.fnUntraced(function* (entry: string, env: Readonly<Record<string, string>>) {
  const process = yield* startProcess({ entry, env: { PORT: "0", ...env } })
  const { code } = yield* process.end
  return { code, stdout: process.stdout(), stderr: process.stderr() }
}, Effect.scoped)

const orderImage = (gateway: GatewayNode, key: string) =>
  call(`${gateway.url}/v1/images/generations`, {
    key,
    json: { model: "paint-1", prompt: "a lighthouse", size: "16x16" }
  })

const assertServes = Effect.fnUntraced(function* (gateway: GatewayNode, key: string) {
  const { status, text } = yield* orderImage(gateway, key)
  assert.strictEqual(status, 200, text)
})

const StoredResponse = Schema.Struct({
  id: Schema.String,
  output: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1))
})

const createResponse = Effect.fnUntraced(function* (gateway: GatewayNode, key: string) {
  const json = { model: "talk-1", input: "Describe a lighthouse" }
  const response = yield* call(`${gateway.url}/v1/responses`, { key, json })
  assert.strictEqual(response.status, 200, response.text)
  return yield* bodyAs(StoredResponse, response)
})

const contents = Effect.map(databaseColumns, (columns) =>
  columns
    .filter(({ column }) => /^(channel_keys|webhook_endpoints)\./.test(column))
    .map(({ column, text }) => `${column}: ${text}`)
    .join("\n")
)

const Endpoint = Schema.Struct({ id: Schema.String, signing_secret: Schema.String })

/** A receiver of webhooks with two secrets that sign. */
const makeHooks = Effect.fnUntraced(function* (gateway: GatewayNode, key: string, url: string) {
  const endpoints = `${gateway.url}/v1/webhook_endpoints`
  const json = { name: "hooks", url, event_types: ["video.failed"] }
  const made = yield* bodyAs(Endpoint, yield* call(endpoints, { key, json }))
  const rotated = yield* call(`${endpoints}/${made.id}/rotate_secret`, {
    key,
    json: { keep_old_secret_active_for_24_hours: true }
  })
  const { signing_secret } = yield* bodyAs(Endpoint, rotated)
  return { id: made.id, secrets: [made.signing_secret, signing_secret] }
})

const onDatabase = Effect.fnUntraced(function* () {
  const url = yield* temporaryServerDatabase
  const env = { DATABASE_URL: url, GATEWAY_WEBHOOK_ALLOW_PRIVATE: "1" }
  return {
    start: (keys: Readonly<Record<string, string>>) =>
      startGateway({ ...env, ...keys }, shippedEntry),
    refusedStart: (keys: Readonly<Record<string, string>>) =>
      run(shippedEntry, { ...env, ...keys }),
    rotate: (keys: Readonly<Record<string, string>>) => run(command, { ...env, ...keys }),
    database: layerDatabaseAt(url, 1)
  }
})

const wrongKeys = [
  { ...only(second), GATEWAY_MASTER_KEY_PREVIOUS: stranger },
  only(second),
  { ...only(second), GATEWAY_MASTER_KEY_PREVIOUS: "short" }
]

/** Until the rotation waits for a lock of the keys, or has ended. */
const untilWaiting = Effect.fnUntraced(function* <A, E>(rotating: Fiber.Fiber<A, E>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    SELECT FROM pg_locks WHERE relation = 'channel_keys'::regclass AND NOT granted`.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (rows) => rows.length > 0 || rotating.pollUnsafe() !== undefined })
  )
})

/** The secret stands in none of the texts, in no encoding. */
const assertHidden = (secret: string, texts: ReadonlyArray<string>): void => {
  const spellings = [
    secret,
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret, "base64").toString("hex"),
    Buffer.from(secret, "base64").toString("utf8")
  ]
  for (const text of texts) {
    for (const spelling of spellings) assert.notInclude(text, spelling)
  }
}

/** Repeats the check for as long as the rotation runs, at least once. */
const rotateWhile = Effect.fnUntraced(function* <A, E, R, E2, R2>(
  rotation: Effect.Effect<A, E, R>,
  check: Effect.Effect<unknown, E2, R2>
) {
  const rotating = yield* Effect.forkChild(rotation)
  let count = 0
  while (rotating.pollUnsafe() === undefined) {
    yield* check
    count += 1
  }
  assert.isAbove(count, 0)
  return yield* Fiber.join(rotating)
})

it.live("API keys and channel calls work before, during and after a rotation", () =>
  Effect.gen(function* () {
    const { start, refusedStart, rotate, database } = yield* onDatabase()
    const before = yield* start(only(first))
    const { url } = yield* Simulator
    const { key } = yield* prepareCustomer(before, "1000", textCatalog()(url))
    yield* assertServes(before, key)
    const receiver = yield* makeReceiver()
    const hooks = yield* makeHooks(before, key, receiver.url)
    const response = yield* createResponse(before, key)
    yield* before.process.kill("SIGTERM")
    yield* before.process.end

    yield* Effect.gen(function* () {
      const untouched = yield* contents
      for (const keys of wrongKeys) {
        const refused = yield* rotate(keys)
        assert.strictEqual(refused.code, 1, refused.stderr)
        assert.match(refused.stderr, /^The master key was not rotated: .+\n$/)
        assert.strictEqual(refused.stdout, "")
        assert.strictEqual(yield* contents, untouched)
      }

      // It waits for a secret that is being stored, and cannot open it: what it had sealed again
      // until then stays as it was.
      const sql = yield* SqlClient.SqlClient
      const failing = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`
            INSERT INTO channel_accounts (channel_id, base_url) VALUES ('zz', 'http://vendor.test')`
          yield* sql`
            INSERT INTO channel_keys (channel_id, name, key_id, sealed_api_key, enabled)
            SELECT 'zz', name, key_id, sealed_api_key, enabled FROM channel_keys
             WHERE channel_id = 'ch-a'`
          const rotating = yield* Effect.forkChild(rotate(both))
          yield* untilWaiting(rotating)
          return rotating
        })
      )
      const failed = yield* Fiber.join(failing)
      assert.strictEqual(failed.code, 1)
      assert.match(failed.stderr, /^The master key was not rotated: The secret of zz cannot.+\n$/)
      yield* sql`DELETE FROM channel_keys WHERE channel_id = 'zz'`
      yield* sql`DELETE FROM channel_accounts WHERE channel_id = 'zz'`
      assert.strictEqual(yield* contents, untouched)

      const between = yield* start(both)
      yield* assertServes(between, key)
      const done = yield* rotateWhile(rotate(both), assertServes(between, key))
      assert.strictEqual(done.code, 0, done.stderr)
      assert.match(done.stdout, /: (\d+) of \1 secrets, 1 stored responses\n$/)
      // Of a channel whose key this gateway has not read yet.
      const film = yield* call(`${between.url}/v1/videos/generations`, {
        key,
        json: { model: "film-1", prompt: "a lighthouse" }
      })
      assert.strictEqual(film.status, 200, film.text)

      const rotated = yield* contents
      const again = yield* rotate(both)
      assert.match(again.stdout, /: 0 of \d+ secrets, 0 stored responses\n$/)
      assert.strictEqual(yield* contents, rotated)

      const after = yield* start(only(second))
      yield* assertServes(after, key)
      const read = yield* call(`${after.url}/v1/responses/${response.id}`, { key })
      assert.deepStrictEqual((yield* bodyAs(StoredResponse, read)).output, response.output)
      assert.strictEqual((yield* call(`${after.url}/v1/balance`, { key })).status, 200)

      yield* call(`${after.url}/v1/webhook_endpoints/${hooks.id}/test`, {
        key,
        json: { event_type: "video.failed" }
      })
      const sample = receiver.received[0] ?? assert.fail("no webhook came")
      for (const secret of hooks.secrets) new Webhook(secret).verify(sample.text, sample.headers)

      const late = yield* refusedStart(only(first))
      assert.strictEqual(late.code, 1)
      assert.match(
        late.stderr,
        /^media-gateway cannot start: .*master key with the id [0-9a-f]{16}/
      )

      const everything = (yield* databaseColumns).map(({ text }) => text).join("\n")
      const shown = [everything, done.stdout, again.stdout, late.stderr, after.process.stdout()]
      for (const secret of [first, second, "vendor-key-a"]) assertHidden(secret, shown)
    }).pipe(Effect.provide(database))
  }).pipe(Effect.scoped, Effect.provide(layerSimulator({ port: 0 })))
)

it.live("a gateway that can open no channel's key does not start, and rotations take turns", () =>
  Effect.gen(function* () {
    const { start, refusedStart, rotate } = yield* onDatabase()
    const before = yield* start(only(first))
    const { key } = yield* prepareCustomer(before, "1000")
    const wrong = yield* refusedStart(only(second))
    assert.strictEqual(wrong.code, 1)
    assert.match(wrong.stderr, /cannot start: .*master key with the id [0-9a-f]{16}, and only/)

    const together = yield* Effect.forEach([both, both], start, { concurrency: "unbounded" })
    for (const gateway of together) yield* assertServes(gateway, key)
    const rotations = yield* Effect.all([rotate(both), rotate(both)], {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(
      rotations.map(({ code, stdout }) => [code, /: (\d) of 5 secrets/.exec(stdout)?.[1]]).sort(),
      [
        [0, "0"],
        [0, "5"]
      ]
    )
    const after = yield* start(only(second))
    yield* assertServes(after, key)
  }).pipe(Effect.scoped, Effect.provide(layerSimulator({ port: 0 })))
)

const KeptSecrets = Schema.fromJsonString(
  Schema.Struct({
    master_key: Schema.String,
    previous_master_key: Schema.optionalKey(Schema.String),
    admin_token: Schema.String
  })
)

it.live("a generated master key is replaced in its file, and the demo keeps its API key", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryDataDir({ initialised: true })
    const file = join(dataDir, "secrets.json")
    const secrets = Effect.flatMap(
      Effect.promise(() => readFile(file, "utf8")),
      Schema.decodeEffect(KeptSecrets)
    )
    const rotate = run(command, { DATA_DIR: dataDir })

    const nothing = yield* run(command, { DATA_DIR: join(dataDir, "nowhere") })
    assert.strictEqual(nothing.code, 1)
    assert.match(nothing.stderr, /^The master key was not rotated: .*nowhere.*\n$/)

    const demo = Effect.gen(function* () {
      const process = yield* startProcess({
        entry: shippedEntry,
        env: { GATEWAY_DEMO: "1", DATA_DIR: dataDir, PORT: "0", GATEWAY_SIMULATOR_PORT: "0" }
      })
      yield* process.waitForLine(/^curl .*images\/generations/)
      const find = (pattern: RegExp) => pattern.exec(process.stdout())?.[1] ?? ""
      const key = find(/API key {6}(mg_\S+)/)
      const image = yield* call(`${find(/gateway {6}(http:\S+)/)}/v1/images/generations`, {
        key,
        json: { model: "paint-1", prompt: "a lighthouse", size: "1024x1024" }
      })
      assert.strictEqual(image.status, 200, image.text)
      return { process, key }
    })

    const serving = yield* demo
    const old = yield* secrets
    const early = yield* rotate
    assert.strictEqual(early.code, 1)
    assert.deepStrictEqual(yield* secrets, old)
    yield* serving.process.kill("SIGTERM")
    yield* serving.process.end

    // As a rotation leaves it that was cut off before it had sealed anything again.
    const begun = { ...old, master_key: second, previous_master_key: old.master_key }
    yield* Effect.promise(() => writeFile(file, JSON.stringify(begun)))
    const done = yield* rotate
    assert.match(done.stdout, /: [1-9]\d* of \d+ secrets, 0 stored responses\n$/)
    assert.deepStrictEqual(yield* secrets, { ...old, master_key: second })

    assert.strictEqual((yield* rotate).code, 0)
    const kept = yield* secrets
    assert.notStrictEqual(kept.master_key, second)
    assert.strictEqual(kept.admin_token, old.admin_token)
    assert.isUndefined(kept.previous_master_key)
    const { mode } = yield* Effect.promise(() => stat(file))
    assert.strictEqual(mode & 0o777, 0o600)

    assert.strictEqual((yield* demo).key, serving.key)
  }).pipe(Effect.scoped)
)
