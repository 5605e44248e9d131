/** Pictures beside a video: its last frame and its cover, from the vendor and from the archive. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { archiving, bucket, digest, inState, load } from "../support/archives.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"

const Content = Schema.Struct({
  content: Schema.Struct({
    video_url: Schema.String,
    last_frame_url: Schema.optionalKey(Schema.String)
  })
})

const contentOf = Effect.fnUntraced(function* (who: Customer, id: string) {
  yield* finishVideo(who, id)
  const gateway = yield* Gateway
  return (yield* bodyAs(Content, yield* gateway.call(`/v1/videos/${id}`, { key: who.key }))).content
})

const variantOf = (who: Customer, id: string, variant: string) =>
  load(who, `/v1/videos/${id}/content?variant=${variant}`)

const PNG = "image/png"

for (const kind of databasesInTurn(import.meta.filename)) {
  const settings = { ...quickSettings, webhookAllowPrivate: true }
  layer(layerTestGateway(kind, settings, { catalogFor: demoCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`stills of videos at their vendor (${kind})`, (it) => {
    it.effect("the last frame is in the answer where it was ordered, and is served", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", return_last_frame: true })
        const { last_frame_url: address = "" } = yield* contentOf(who, id)
        const atVendor = yield* Effect.promise(
          async () => new Uint8Array(await (await fetch(address)).arrayBuffer())
        )
        for (const variant of ["last_frame", "thumbnail"]) {
          const { status, headers, bytes } = yield* variantOf(who, id, variant)
          assert.deepStrictEqual([status, headers.get("content-type")], [200, PNG])
          assert.strictEqual(digest(bytes), digest(atVendor))
        }
        const video = yield* variantOf(who, id, "video")
        assert.strictEqual(video.headers.get("content-type"), "video/mp4")
        const events = yield* gateway.call(`/v1/videos/${id}/events`, { key: who.key })
        assert.include(events.text, JSON.stringify(address))
        yield* gateway.verify
      })
    )

    it.effect("a vendor's cover is the thumbnail, and what is missing is named", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const coveredId = yield* createVideo(who, { model: "motion-1" })
        assert.notProperty(yield* contentOf(who, coveredId), "last_frame_url")
        const { headers } = yield* variantOf(who, coveredId, "thumbnail")
        assert.strictEqual(headers.get("content-type"), PNG)
        const plain = yield* createVideo(who, { model: "film-1" })
        assert.notProperty(yield* contentOf(who, plain), "last_frame_url")
        for (const [id, variant, status, message] of [
          [coveredId, "last_frame", 404, "It has: video, cover"],
          [plain, "thumbnail", 404, "It has: video"],
          [plain, "last_frame", 404, "It has: video"],
          [plain, "spritesheet", 400, "no spritesheet"]
        ] as const) {
          const path = `/v1/videos/${id}/content?variant=${variant}`
          const answer = yield* gateway.call(path, { key: who.key })
          assert.strictEqual(answer.status, status)
          assert.include((yield* errorOf(answer)).message, message)
        }
      })
    )

    it.effect("a model without the field refuses it before the hold", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        for (const model of ["film-1.0", "clip-1"]) {
          const answer = yield* orderVideo(who, { model, return_last_frame: true })
          const error = yield* errorOf(answer)
          assert.deepInclude(error, { code: "invalid_request", param: "return_last_frame" })
        }
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
      })
    )

    it.effect("a deleted video leaves no address of a still", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const sql = yield* SqlClient.SqlClient
        const id = yield* createVideo(who, { model: "film-1", return_last_frame: true })
        yield* finishVideo(who, id)
        const hasStills = sql`SELECT stills IS NOT NULL AS has FROM tasks WHERE id = ${id}`
        assert.deepStrictEqual(yield* hasStills, [{ has: true }])
        yield* gateway.call(`/v1/videos/${id}`, { method: "DELETE", key: who.key })
        assert.deepStrictEqual(yield* hasStills, [{ has: false }])
        assert.strictEqual((yield* variantOf(who, id, "last_frame")).status, 404)
      })
    )
  })

  layer(layerTestGateway(kind, archiving, { bucket, catalogFor: demoCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`stills of videos in the archive (${kind})`, (it) => {
    it.effect("a link opens the last frame without a key", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", return_last_frame: true })
        const { video_url: video, last_frame_url: frame = "" } = yield* contentOf(who, id)
        assert.isTrue(frame.startsWith(`${gateway.url}/v1/videos/${id}/content?token=`), frame)
        yield* inState(id, "kept")
        const open = (address: string) =>
          load({ ...who, key: "none" }, address.slice(gateway.url.length))
        for (const [address, type] of [
          [video, "video/mp4"],
          [frame, PNG]
        ] as const) {
          const page = yield* Effect.promise(async () => {
            const response = await fetch(address)
            return {
              headers: response.headers,
              bytes: new Uint8Array(await response.arrayBuffer())
            }
          })
          assert.strictEqual(page.headers.get("content-type"), type)
          assert.strictEqual(page.headers.get("etag"), `"${digest(page.bytes)}"`)
        }
        assert.strictEqual((yield* open(`${gateway.url}/v1/videos/${id}/content`)).status, 401)
      })
    )

    it.effect("an earlier video is sent to the vendor from where the archive can be read", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-2.5" })
        yield* finishVideo(who, id)
        yield* inState(id, "kept")
        const extension = { model: "film-2.5", video: { task_id: id, role: "extend_video" } }
        yield* createVideo(who, extension)
        const requests = yield* gateway.simulator.requests
        const sent = JSON.stringify(requests.filter(({ method }) => method === "POST").at(-1)?.body)
        // Without a public address the archive cannot be reached from outside.
        assert.include(sent, "/media/videos/5/")
      })
    )
  })

  const redirectSettings = { ...archiving, archiveRedirect: true }
  layer(layerTestGateway(kind, redirectSettings, { bucket, catalogFor: demoCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`earlier videos in a bucket that vendors can read (${kind})`, (it) => {
    it.effect("are sent by a presigned address", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-2.5" })
        yield* finishVideo(who, id)
        yield* inState(id, "kept")
        yield* createVideo(who, { model: "film-2.5", video: { task_id: id, role: "edit_video" } })
        const requests = yield* gateway.simulator.requests
        const sent = JSON.stringify(requests.filter(({ method }) => method === "POST").at(-1)?.body)
        assert.match(sent, new RegExp(`/${id}/0\\?[^"]*X-Amz-Signature=`))
      })
    )
  })

  const publicSettings = { ...archiving, publicUrl: "https://gateway.example" }
  layer(layerTestGateway(kind, publicSettings, { bucket, catalogFor: demoCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`earlier videos of a gateway with a public address (${kind})`, (it) => {
    it.effect("are sent by a link to the gateway", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-2.5" })
        yield* finishVideo(who, id)
        yield* inState(id, "kept")
        yield* createVideo(who, { model: "film-2.5", video: { task_id: id, role: "edit_video" } })
        const requests = yield* gateway.simulator.requests
        const sent = JSON.stringify(requests.filter(({ method }) => method === "POST").at(-1)?.body)
        assert.include(sent, `https://gateway.example/v1/videos/${id}/content?token=`)
      })
    )
  })
}
