/** Results are copied into a bucket behind a real S3 protocol, and served from there. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerBucketS3 } from "../../src/archive/BucketS3.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, finishVideo, moveTo } from "../support/orders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { s3Server } from "../support/s3Server.ts"

const settings = { ...quickSettings, hasArchive: true, webhookAllowPrivate: true }

const bucket = Layer.unwrap(Effect.map(s3Server, layerBucketS3))

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const load = (
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
const inState = (id: string, state: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = sql`SELECT reason FROM archives WHERE task_id = ${id} AND state = ${state}`
    return yield* rows.pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (rows) => rows.length === 1 })
    )
  })

/** Makes an image whose file is answered as told; answers the path of the file. */
const imageWith = Effect.fnUntraced(function* (who: Customer, query: string, answer: () => Reply) {
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

const picture = (body: Uint8Array): Reply => ({
  headers: { "content-type": "image/png", "content-length": String(body.length) },
  body: Buffer.from(body)
})
const bytes = new Uint8Array(12 * 1024 * 1024).map((_, index) => (index * 7) % 251)

for (const kind of ["embedded", "postgres"] as const) {
  layer(layerTestGateway(kind, settings, { bucket }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the archive (${kind})`, (it) => {
    it.effect("keeps what its vendor drops, and serves it whole and in parts", () =>
      Effect.gen(function* () {
        const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
        let isThere = true
        const { id, path } = yield* imageWith(who, "", () =>
          isThere ? picture(bytes) : { status: 404 }
        )
        yield* inState(id, "kept")
        isThere = false
        const whole = yield* load(who, path)
        assert.strictEqual(whole.status, 200)
        assert.strictEqual(digest(whole.bytes), digest(bytes))
        assert.strictEqual(whole.headers.get("content-type"), "image/png")
        assert.strictEqual(whole.headers.get("content-length"), String(bytes.length))
        const etag = whole.headers.get("etag") ?? ""
        assert.strictEqual(etag, `"${digest(bytes)}"`)

        const part = yield* load(who, path, { range: "bytes=100-199" })
        assert.strictEqual(part.status, 206)
        assert.strictEqual(part.headers.get("content-range"), `bytes 100-199/${bytes.length}`)
        assert.deepStrictEqual(part.bytes, bytes.slice(100, 200))
        const end = yield* load(who, path, { range: "bytes=-10", "if-range": etag })
        assert.deepStrictEqual(end.bytes, bytes.slice(-10))
        const other = yield* load(who, path, { range: "bytes=0-9", "if-range": '"another"' })
        assert.strictEqual(other.status, 200)
        const beyond = yield* load(who, path, { range: `bytes=${bytes.length}-` })
        assert.strictEqual(beyond.status, 416)
        assert.strictEqual(beyond.headers.get("content-range"), `bytes */${bytes.length}`)
        assert.strictEqual((yield* load(who, path, { "if-none-match": etag })).status, 304)
        const head = yield* load(who, path, {}, { method: "HEAD" })
        assert.strictEqual(head.headers.get("content-length"), String(bytes.length))
        yield* moveTo(null)
      })
    )

    it.effect("is what tasks tell of: links that open one file without a key", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const { id, path } = yield* imageWith(who, "?Expires=1900000000", () => picture(bytes))
        const { id: other } = yield* imageWith(who, "", () => picture(bytes))
        const told = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
        const Told = Schema.Struct({ data: Schema.Tuple([Schema.Struct({ url: Schema.String })]) })
        const { data } = yield* bodyAs(Told, told)
        const [{ url }] = data
        assert.isTrue(url.startsWith(`${gateway.url}${path}?token=`), url)
        assert.notProperty(told.body, "expires_at")
        const open = (address: string, headers: Record<string, string> = {}) =>
          Effect.promise(async () => {
            const response = await fetch(address, { headers })
            return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
          })
        yield* inState(id, "kept")
        assert.strictEqual(digest((yield* open(url)).bytes), digest(bytes))
        const part = yield* open(url, { range: "bytes=1-3" })
        assert.deepStrictEqual(part, { status: 206, bytes: bytes.slice(1, 4) })
        const [end = "", organization = "", mac = ""] = url.split("token=")[1]?.split(".") ?? []
        for (const token of [
          "",
          "x",
          [Number(end) + 1, organization, mac].join("."),
          [end, "org_another", mac].join("."),
          [end, organization, mac.replace(/^./, (first) => (first === "A" ? "B" : "A"))].join(".")
        ]) {
          const refused = yield* open(`${gateway.url}${path}?token=${token}`)
          assert.strictEqual(refused.status, 401, token)
        }
        assert.strictEqual((yield* open(url.replace(id, other))).status, 401)
        assert.strictEqual((yield* open(url.replace("/content/0", "/content/1"))).status, 401)
        const elsewhere = url.replace(path, `/v1/images/${id}`)
        assert.strictEqual((yield* open(elsewhere)).status, 401)
        const listed = yield* gateway.call("/v1/images?limit=1", { key: who.key })
        assert.include(listed.text, `/content/0?token=`)
        yield* moveTo(null)
      })
    )

    it.effect("copies again what was cut, and changes nothing of the task meanwhile", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        let cuts = 2
        const { id, path } = yield* imageWith(who, "", () => (cuts-- > 0 ? "cut" : picture(bytes)))
        const sql = yield* SqlClient.SqlClient
        const hurry = sql`UPDATE archives SET next_try_at = now() WHERE task_id = ${id} AND reason <> ''`
        yield* Effect.raceFirst(
          inState(id, "kept"),
          Effect.forever(Effect.delay(hurry, "50 millis"))
        )
        const { status, bytes: served } = yield* load(who, path)
        assert.deepStrictEqual([status, digest(served)], [200, digest(bytes)])
        assert.deepInclude(yield* gateway.balance(who), { balance: "9.8", held: "0" })
        yield* moveTo(null)
      })
    )

    it.effect("gives up when the vendor's address has expired, and the task stays as it is", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const { id, path } = yield* imageWith(who, "?Expires=1700000000", () => ({ status: 403 }))
        const [row] = yield* inState(id, "failed")
        assert.deepInclude(row, { reason: "the vendor answered 403" })
        assert.strictEqual((yield* load(who, path)).status, 404)
        const read = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
        assert.deepInclude(read.body, { task_status: "succeeded" })
        const { text } = yield* gateway.metrics
        assert.match(text, /gateway_archive_tries_total\{end="failed"\} [1-9]/)
        yield* moveTo(null)
      })
    )

    it.effect("keeps a video as its vendor has it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", prompt: "x" })
        yield* finishVideo(who, id)
        yield* inState(id, "kept")
        const read = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
        const Video = Schema.Struct({ content: Schema.Struct({ video_url: Schema.String }) })
        const { content } = yield* bodyAs(Video, read)
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql`SELECT video_url AS url FROM tasks WHERE id = ${id}`
        const { url } = Schema.decodeUnknownSync(Schema.Struct({ url: Schema.String }))(row)
        const [original, linked] = yield* Effect.promise(() =>
          Promise.all(
            [url, content.video_url].map(
              async (address) => new Uint8Array(await (await fetch(address)).arrayBuffer())
            )
          )
        )
        if (original === undefined || linked === undefined) throw new Error("no file came")
        assert.strictEqual(digest(linked), digest(original))
        const served = yield* load(who, `/v1/videos/${id}/content`)
        assert.strictEqual(digest(served.bytes), digest(original))
        assert.strictEqual(served.headers.get("etag"), `"${digest(original)}"`)
      })
    )
  })
}

layer(
  layerTestGateway("embedded", { ...settings, publicUrl: "https://media.example.com" }, { bucket }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the archive of a gateway that knows where it is reached", (it) => {
  it.effect("is told by that address, in answers and in webhooks", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const receiver = yield* makeReceiver()
      yield* gateway.call("/v1/webhook_endpoints", {
        key: who.key,
        json: { name: "x", url: receiver.url, event_types: ["image.completed"] }
      })
      const { id, path } = yield* imageWith(who, "", () => picture(bytes))
      const [told] = yield* receiver.awaited(1)
      const read = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
      for (const text of [told?.text ?? "", read.text]) {
        assert.include(text, `"https://media.example.com${path}?token=`)
      }
      yield* moveTo(null)
    })
  )
})

/** When nothing of the task's results is in the archive any more. */
const whenRemoved = (id: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT 1 FROM archives WHERE task_id = ${id}`.pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (rows) => rows.length === 0 })
    )
  })

/** An archived image; answers its id, its path and an address of the bucket. */
const keptImage = Effect.fnUntraced(function* (who: Customer) {
  const { id, path } = yield* imageWith(who, "", () => picture(bytes))
  yield* inState(id, "kept")
  const sent = yield* load(who, path, {}, { redirect: "manual" })
  return { id, path, address: sent.headers.get("location") ?? "" }
})

const statusOf = (address: string) =>
  Effect.promise(async () => {
    const response = await fetch(address)
    await response.body?.cancel()
    return response.status
  })

layer(
  layerTestGateway("embedded", { ...settings, archiveRedirect: true, archiveDays: 7 }, { bucket }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the archive behind an address of the bucket", (it) => {
  it.effect("loses the files of a task that its owner deletes", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { id, path, address } = yield* keptImage(who)
      const other = yield* keptImage(who)
      assert.strictEqual(yield* statusOf(address), 200)
      const deleted = yield* gateway.call(`/v1/images/${id}`, { method: "DELETE", key: who.key })
      assert.deepStrictEqual(deleted.body, { id, object: "image.deleted", deleted: true })
      assert.strictEqual((yield* load(who, path, {}, { redirect: "manual" })).status, 404)
      yield* whenRemoved(id)
      assert.strictEqual(yield* statusOf(address), 404)
      assert.strictEqual(yield* statusOf(other.address), 200)
      yield* moveTo(null)
    })
  )

  it.effect("also where a copy was on its way", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      const who = yield* gateway.customer("10")
      const { id } = yield* imageWith(who, "", () => ({ status: 503 }))
      yield* sql`SELECT 1 FROM archives WHERE task_id = ${id} AND tries > 0`.pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (rows) => rows.length > 0 })
      )
      yield* gateway.call(`/v1/images/${id}`, { method: "DELETE", key: who.key })
      // A copy that has not heard of it may end until its claim is over.
      const [row] = yield* sql`
        SELECT state, next_try_at > now() + interval '50 seconds' AS later
          FROM archives WHERE task_id = ${id}`
      assert.deepStrictEqual(row, { state: "removing", later: true })
      yield* sql`UPDATE archives SET next_try_at = now() WHERE task_id = ${id}`
      yield* whenRemoved(id)
      yield* moveTo(null)
    })
  )

  it.effect("keeps files for as many days as it is told", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      const who = yield* gateway.customer("10")
      const { id, address } = yield* keptImage(who)
      const other = yield* keptImage(who)
      const age = (task: string, hours: number) =>
        sql`UPDATE archives SET ended_at = now() - make_interval(hours => ${hours})
             WHERE task_id = ${task}`
      yield* age(other.id, 7 * 24 - 1)
      yield* age(id, 7 * 24 + 1)
      yield* whenRemoved(id)
      assert.strictEqual(yield* statusOf(address), 404)
      assert.strictEqual(yield* statusOf(other.address), 200)
      const read = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
      assert.deepInclude(read.body, { task_status: "succeeded" })
      yield* moveTo(null)
    })
  )

  it.effect("sends clients there", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const { id, path } = yield* imageWith(who, "", () => picture(bytes))
      yield* inState(id, "kept")
      const sent = yield* load(who, path, {}, { redirect: "manual" })
      assert.strictEqual(sent.status, 302)
      assert.strictEqual(sent.headers.get("cache-control"), "no-store")
      const address = sent.headers.get("location") ?? ""
      assert.match(address, /X-Amz-Expires=300/)
      const part = yield* Effect.promise(async () => {
        const response = await fetch(address, { headers: { range: "bytes=5-9" } })
        return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
      })
      assert.deepStrictEqual(part, { status: 206, bytes: bytes.slice(5, 10) })
      yield* moveTo(null)
    })
  )
})
