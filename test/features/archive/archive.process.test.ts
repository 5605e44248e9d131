/** Results are copied into a bucket behind a real S3 protocol, and served from there. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  archiving,
  bucket,
  bytes,
  digest,
  imageWith,
  inState,
  load,
  picture
} from "../../support/archives.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../../support/gateway.ts"
import { createVideo, finishVideo, moveTo } from "../../support/orders.ts"
import { makeReceiver } from "../../support/receiver.ts"

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, archiving, { bucket }), {
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
        const [end = "", organization = "", members = "", mac = ""] =
          url.split("token=")[1]?.split(".") ?? []
        for (const token of [
          "",
          "x",
          [Number(end) + 1, organization, members, mac].join("."),
          [end, "org_another", members, mac].join("."),
          [end, organization, "mem_another", mac].join("."),
          [end, organization, members, mac.replace(/^./, (one) => (one === "A" ? "B" : "A"))].join(
            "."
          )
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

    it.effect("serves nothing that a browser would run", () =>
      Effect.gen(function* () {
        const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
        const { id, path } = yield* imageWith(who, "", () => ({
          headers: { "content-type": "image/SVG+xml" },
          body: "<svg xmlns='http://www.w3.org/2000/svg'/>"
        }))
        yield* inState(id, "kept")
        for (const range of [{}, { range: "bytes=0-3" }]) {
          const { headers } = yield* load(who, path, range)
          assert.strictEqual(headers.get("content-type"), "application/octet-stream")
          assert.strictEqual(headers.get("content-disposition"), "attachment")
          assert.match(headers.get("content-security-policy") ?? "", /(?:^|; )sandbox$/)
          assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        }
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
        for (const tries of [1, 2]) {
          yield* sql`
            UPDATE archives SET next_try_at = now() WHERE task_id = ${id} AND tries = ${tries}
            RETURNING task_id`.pipe(
            Effect.delay("10 millis"),
            Effect.repeat({ until: (rows) => rows.length === 1 })
          )
        }
        yield* inState(id, "kept")
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
  layerTestGateway(
    "embedded",
    { ...archiving, publicUrl: "https://media.example.com" },
    { bucket }
  ),
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

layer(layerTestGateway("embedded", { ...archiving, archiveRedirect: true }, { bucket }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an archive that clients are sent to", (it) => {
  it.effect.each([
    ["image/SVG+xml", "application/octet-stream", "attachment"],
    ["IMAGE/PNG; x", "image/png", null]
  ] as const)("has a file of type %s as %s", ([type, served, disposition]) =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const body = "<svg xmlns='http://www.w3.org/2000/svg'/>"
      const { id, path } = yield* imageWith(who, "", () => ({
        headers: { "content-type": type },
        body
      }))
      yield* inState(id, "kept")
      const sent = yield* load(who, path, {}, { redirect: "manual" })
      assert.strictEqual(sent.status, 302)
      const address = new URL(sent.headers.get("location") ?? "")
      assert.strictEqual(address.searchParams.get("response-content-type"), served)
      assert.strictEqual(address.searchParams.get("response-content-disposition"), disposition)
      const loaded = yield* Effect.promise(() => fetch(address))
      assert.strictEqual(loaded.headers.get("content-type"), served)
      assert.strictEqual(loaded.headers.get("content-disposition"), disposition)
      assert.strictEqual(yield* Effect.promise(() => loaded.text()), body)
      yield* moveTo(null)
    })
  )

  it.effect.each([true, false])(
    "says of a file whether it was ordered with a mark: %s",
    (watermark) =>
      Effect.gen(function* () {
        const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
        const id = yield* createVideo(who, { model: "film-1", watermark })
        yield* finishVideo(who, id)
        yield* inState(id, "kept")
        const sent = yield* load(who, `/v1/videos/${id}/content`, {}, { redirect: "manual" })
        const loaded = yield* Effect.promise(() => fetch(sent.headers.get("location") ?? ""))
        assert.strictEqual(loaded.status, 200)
        assert.strictEqual(loaded.headers.get("x-amz-meta-watermark"), String(watermark))
      })
  )
})
