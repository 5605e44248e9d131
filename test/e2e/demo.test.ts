import { rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { temporaryDataDir } from "../support/databases.ts"
import { bodyAs } from "../support/gateway.ts"
import { shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { startProcess } from "../support/processes.ts"

const start = Effect.fnUntraced(function* (
  dataDir: string,
  env: Readonly<Record<string, string>> = {}
) {
  const process = yield* startProcess({
    entry: shippedEntry,
    env: { GATEWAY_DEMO: "1", DATA_DIR: dataDir, PORT: "0", GATEWAY_SIMULATOR_PORT: "0", ...env }
  })
  yield* process.waitForLine(/^curl .*images\/generations/)
  const find = (pattern: RegExp) => pattern.exec(process.stdout())?.[1] ?? ""
  return {
    process,
    url: find(/gateway {6}(http:\S+)/),
    key: find(/API key {6}(mg_\S+)/),
    adminToken: find(/admin token {2}(\S+)/)
  }
})

const Created = Schema.Struct({ id: Schema.String })

it.live("the demo makes a video and an image, and prints the same key after a kill", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryDataDir({ initialised: true })
    const first = yield* start(dataDir)
    const { key } = first
    assert.include(first.process.stdout(), `console      ${first.url}/console `)
    const models = yield* call(`${first.url}/v1/models`, { key })
    assert.deepEqual(models.text.match(/"id":"[^"]*"/g)?.slice(0, 2), [
      '"id":"film-1"',
      '"id":"clip-1"'
    ])

    const order = {
      model: "film-1",
      prompt: "a lighthouse at dusk",
      duration: 5,
      resolution: "720p"
    }
    const created = yield* call(`${first.url}/v1/videos/generations`, { key, json: order })
    const { id } = yield* bodyAs(Created, created)
    yield* first.process.kill("SIGKILL")
    yield* first.process.end

    const second = yield* start(dataDir)
    assert.strictEqual(second.key, key)
    assert.strictEqual(second.adminToken, first.adminToken)
    const done = yield* call(`${second.url}/v1/videos/${id}?wait=60`, { key })
    assert.deepNestedInclude(done.body, {
      task_status: "succeeded",
      "usage.completion_tokens": 108_900
    })
    const image = { model: "paint-1", prompt: "a lighthouse at dusk", size: "1024x1024" }
    const painted = yield* call(`${second.url}/v1/images/generations`, { key, json: image })
    assert.strictEqual(painted.status, 200, painted.text)
    const balance = yield* call(`${second.url}/v1/balance`, { key })
    assert.deepInclude(balance.body, { balance: "994.7906", held: "0" })
    const verify = yield* call(`${second.url}/admin/v1/ledger/verify`, { key: second.adminToken })
    assert.strictEqual(verify.text, '{"ok":true,"violations":[]}')

    yield* second.process.kill("SIGTERM")
    assert.isNull((yield* second.process.end).signal)

    // The database has the key as a hash alone, so one that is not kept gives way to another.
    const file = join(dataDir, "demo-key")
    assert.strictEqual((yield* Effect.promise(() => stat(file))).mode & 0o777, 0o600)
    yield* Effect.promise(() => rm(file))
    const third = yield* start(dataDir)
    assert.notStrictEqual(third.key, key)
    const later = yield* call(`${third.url}/v1/balance`, { key: third.key })
    assert.strictEqual(later.text, balance.text)
  }).pipe(Effect.scoped)
)

it.live("the demo archives what it makes where it is asked to", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryDataDir({ initialised: true })
    const { key, url, process } = yield* start(dataDir, { GATEWAY_DEMO_ARCHIVE: "1" })
    const order = { model: "film-1", prompt: "a lighthouse at dusk" }
    const created = yield* call(`${url}/v1/videos/generations`, { key, json: order })
    const { id } = yield* bodyAs(Created, created)
    yield* call(`${url}/v1/videos/${id}?wait=60`, { key })
    // The vendor's file has no such tag: it is the digest that the archive keeps.
    yield* call(`${url}/v1/videos/${id}/content`, { key, method: "HEAD" }).pipe(
      Effect.delay("50 millis"),
      Effect.repeat({ until: ({ headers }) => /^"[0-9a-f]{64}"$/.test(headers.get("etag") ?? "") })
    )
    const part = yield* call(`${url}/v1/videos/${id}/content`, {
      key,
      headers: { range: "bytes=4-7" }
    })
    assert.deepStrictEqual([part.status, part.text], [206, "ftyp"])
    yield* process.kill("SIGTERM")
    assert.isNull((yield* process.end).signal)
  }).pipe(Effect.scoped)
)

it.live("a start that cannot work says why in one line and exits with 1", () =>
  Effect.gen(function* () {
    const url = "postgres://gateway@127.0.0.1:1/gateway"
    const rows = [
      [{ PORT: "many" }, /PORT cannot be used: /],
      [{ GATEWAY_TIME_ZONE: "Mars/Base" }, /GATEWAY_TIME_ZONE cannot be used: .*IANA time zone/],
      [{ GATEWAY_LEASE_SECONDS: "NaN" }, /GATEWAY_LEASE_SECONDS cannot be used: /],
      [{ GATEWAY_ASK_INTERVAL_SECONDS: "-5" }, /GATEWAY_ASK_INTERVAL_SECONDS .*greater than 0/],
      [{ DATABASE_URL: url }, /GATEWAY_MASTER_KEY is required together with DATABASE_URL/],
      [{ DATABASE_URL: url, GATEWAY_MASTER_KEY: "short" }, /must be 32 bytes in base64/]
    ] as const
    for (const [env, message] of rows) {
      const process = yield* startProcess({ entry: shippedEntry, env: { ...env } })
      assert.strictEqual((yield* process.end).code, 1)
      assert.match(process.stderr(), message)
      assert.match(process.stderr(), /^media-gateway cannot start: [^\n]+\n$/)
    }
  }).pipe(Effect.scoped)
)
