/** Videos as the `openai` package orders, reads, lists, loads and deletes them. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import OpenAI, { toFile } from "openai"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { done, keyedOpenaiOf, openaiOf, rejection } from "../support/officialClients.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { create, verified, webhookSettings } from "../support/webhooks.ts"
import { png, refusals, sizes } from "./openai.videos.rows.ts"

type Video = OpenAI.Video

const order = { model: "film-1", prompt: "a lighthouse at dusk" }

/** As programs wait that have no helper for it. */
const ended = (client: OpenAI, id: string) =>
  done(async () => {
    let pauses = 0
    while (true) {
      const { data, response } = await client.videos.retrieve(id).withResponse()
      if (data.status === "completed" || data.status === "failed") return { video: data, pauses }
      assert.include(["queued", "in_progress"], data.status)
      assert.strictEqual(data.progress, 0)
      const pause = Number(response.headers.get("openai-poll-after-ms"))
      assert.isAbove(pause, 0)
      pauses++
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  })

const uuidOf = (id: string): string => id.replace(/^[a-z]+_/, "")

/** What the vendor was sent last. */
const lastSent = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.requests, (requests) => {
    const body = requests.filter(({ method }) => method === "POST").at(-1)?.body
    return JSON.stringify(body)
  })
)

/** An order in JSON, which the package does not send. */
const post = (who: Customer, json: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call("/v1/videos", { key: who.key, json, headers }))

const Refused = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    param: Schema.NullOr(Schema.String),
    message: Schema.String,
    allowed: Schema.optionalKey(Schema.Unknown),
    nearest: Schema.optionalKey(Schema.Unknown)
  })
})
const decodeId = (body: unknown): string =>
  Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(body).id

/** The package's types do not have the event, which it reads all the same. */
const decodeEvent = (event: unknown): string =>
  Schema.decodeUnknownSync(
    Schema.Struct({
      type: Schema.Literal("video.completed"),
      data: Schema.Struct({ id: Schema.String })
    })
  )(event).data.id

const decodeRefused = Schema.decodeUnknownSync(Refused)

/** A finished video that is ordered at our own path. */
const orderOwn = Effect.fnUntraced(function* (who: Customer) {
  const id = yield* createVideo(who, { model: "film-1", ratio: "9:16" })
  yield* finishVideo(who, id)
  return id
})

/** A finished video that is ordered by the package of OpenAI. */
const orderAsOpenai = Effect.fnUntraced(function* (who: Customer, client: OpenAI) {
  const { id } = yield* done(() => client.videos.create(order))
  yield* finishVideo(who, `vt_${uuidOf(id)}`)
  return id
})

const listVideos = async (client: OpenAI, query: OpenAI.VideoListParams) => {
  const videos: Array<Video> = []
  for await (const video of client.videos.list(query)) videos.push(video)
  return videos
}

const idsOf = (videos: ReadonlyArray<Video>) => videos.map(({ id }) => id)

const assertFinished = (video: Video, isOwn: boolean): void => {
  const expected = {
    object: "video",
    status: "completed",
    progress: 100,
    model: "film-1",
    seconds: "5",
    size: isOwn ? "720x1280" : "1280x720",
    task_status: "succeeded"
  } as const
  assert.deepInclude(video, expected)
  assert.typeOf(video.created_at, isOwn ? "string" : "number")
  assert.property(video, "content")
}

layer(layerTestGateway("postgres", webhookSettings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("videos of the openai package", (it) => {
  it.effect("one is ordered, awaited, loaded and deleted, and charged as any other", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* keyedOpenaiOf(who)
      const made = yield* done(() =>
        client.videos.create({ ...order, seconds: "8", size: "720x1280" })
      )
      assert.match(made.id, /^video_[0-9a-f-]{36}$/)
      assert.deepInclude(made, {
        object: "video",
        model: "film-1",
        status: "queued",
        progress: 0,
        seconds: "8",
        size: "720x1280",
        prompt: null,
        error: null,
        completed_at: null,
        expires_at: null,
        remixed_from_video_id: null
      })
      assert.approximately(made.created_at, Date.now() / 1000, 60)
      const early = yield* rejection(() => client.videos.downloadContent(made.id))
      if (early instanceof OpenAI.APIError) assert.strictEqual(early.status, 404)
      const { video } = yield* ended(client, made.id)
      assert.deepInclude(video, {
        id: made.id,
        status: "completed",
        progress: 100,
        created_at: made.created_at,
        seconds: "8",
        size: "720x1280",
        error: null
      })
      assert.isAtLeast(video.completed_at ?? 0, made.created_at - 1)

      const { text: own } = yield* gateway.call(`/v1/videos/vt_${uuidOf(made.id)}`, {
        key: who.key
      })
      assert.include(own, `{"id":"vt_${uuidOf(made.id)}","task_status":"succeeded"`)
      const file = yield* done(() => client.videos.downloadContent(made.id, { variant: "video" }))
      assert.isAbove((yield* done(() => file.arrayBuffer())).byteLength, 100)
      for (const [variant, error] of [
        ["thumbnail", { status: 404, code: "not_found" }],
        ["spritesheet", { status: 400, code: "invalid_request", param: "variant" }]
      ] as const) {
        const none = yield* rejection(() => client.videos.downloadContent(made.id, { variant }))
        assert.deepInclude(none, error)
      }

      const { text: orders } = yield* gateway.call("/v1/orders", { key: who.key })
      assert.include(orders, `"vt_${uuidOf(made.id)}"`)
      const before = yield* gateway.balance(who)
      assert.notStrictEqual(before.balance, "100")
      const deleted = yield* done(() => client.videos.delete(made.id))
      assert.deepStrictEqual(
        { ...deleted },
        { id: made.id, object: "video.deleted", deleted: true }
      )
      const gone = yield* rejection(() => client.videos.retrieve(made.id))
      assert.deepInclude(gone, { status: 404, code: "task_not_found" })
      assert.include(String(gone), made.id)
      assert.deepStrictEqual(yield* gateway.balance(who), before)
    })
  )

  it.effect("one that fails says why, and costs nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* openaiOf(who)
      const made = yield* done(() => client.videos.create({ ...order, prompt: "x sim:fail" }))
      const { video } = yield* ended(client, made.id)
      assert.deepInclude(video, { status: "failed", progress: 0 })
      assert.isAbove(video.error?.message.length ?? 0, 0)
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
    })
  )

  it.effect("a picture comes as a file or as an address, and reaches the vendor", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* openaiOf(who)
      const picture = png(1280, 720)
      // The simulator keeps of inline media what they are.
      const seen = (media_type: string, bytes: Buffer) => {
        const sha256 = createHash("sha256").update(bytes).digest("hex")
        return { media_type, bytes: bytes.length, sha256 }
      }
      const address = seen("image/png", picture)
      const uploaded = yield* done(async () =>
        client.files.create({ file: await toFile(picture, "frame.png"), purpose: "vision" })
      )
      const cases = [
        ["film-1", done(() => toFile(picture, "frame.png")), address, "1280x720"],
        ["clip-1", done(() => toFile(picture, "frame")), address, "1280x720"],
        [
          "film-1",
          done(() => toFile(Buffer.from("<svg/>"), "a.svg", { type: "image/svg+xml" })),
          seen("image/svg+xml", Buffer.from("<svg/>")),
          "1280x720"
        ],
        ["film-1", Effect.succeed({ image_url: "https://a.test/a.png" }), "https://a.test/a.png"],
        ["film-1", Effect.succeed({ file_id: uploaded.id }), address]
      ] as const
      for (const [model, reference, sent, size] of cases) {
        const input_reference = yield* reference
        const made = yield* done(() =>
          client.videos.create({
            ...order,
            model,
            input_reference,
            // The type of the package has no others than OpenAI's sizes.
            ...(size === undefined ? {} : { size })
          })
        )
        assert.strictEqual(made.size, size ?? "720p")
        const body = (yield* lastSent) ?? ""
        assert.include(body, JSON.stringify(sent))
        assert.strictEqual(
          body.includes('"ratio":"16:9"'),
          model === "film-1" && size !== undefined
        )
        yield* ended(client, made.id)
      }
      const before = yield* gateway.balance(who)
      for (const file of [Buffer.from("no picture"), Buffer.alloc(0)]) {
        const input_reference = yield* done(() => toFile(file, "a.bin"))
        const refused = yield* rejection(() => client.videos.create({ ...order, input_reference }))
        assert.deepInclude(refused, { code: "invalid_request", param: "input_reference" })
      }
      const twice = new FormData()
      for (const [name, value] of [...Object.entries(order), ["seconds", "5"], ["seconds", "9"]]) {
        twice.append(name ?? "", value ?? "")
      }
      const { status, body } = yield* done(async () => {
        const response = await fetch(`${gateway.url}/v1/videos`, {
          method: "POST",
          headers: { authorization: `Bearer ${who.key}` },
          body: twice
        })
        const body: unknown = await response.json()
        return { status: response.status, body }
      })
      assert.strictEqual(status, 400)
      assert.strictEqual(decodeRefused(body).error.param, "seconds")
      assert.deepStrictEqual(yield* gateway.balance(who), before)
    })
  )

  it.effect("sizes and seconds reach each vendor as they are ordered", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      for (const [model, said, sent, [size, seconds]] of sizes) {
        const label = `${model} ${JSON.stringify(said)}`
        const answer = yield* post(who, { ...order, model, ...said })
        assert.strictEqual(answer.status, 200, `${label} ${answer.text}`)
        const body = (yield* lastSent) ?? ""
        for (const piece of sent) assert.include(body, piece, label)
        assert.strictEqual(body.includes('"resolution"') && model === "film-2", false, label)
        assert.include(answer.text, `"seconds":"${seconds}"`, label)
        assert.include(answer.text, `"size":"${size}"`, label)
      }
    })
  )

  it.effect("what is not offered is refused before anything is held or asked for", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      yield* gateway.simulator.clearRequests
      for (const [said, [code, param, nearest, allowed]] of refusals) {
        const label = JSON.stringify(said)
        const answer = yield* post(who, { prompt: "a lighthouse", ...said })
        const { error } = decodeRefused(answer.body)
        assert.deepInclude(error, { code, param }, label)
        if (nearest !== undefined) assert.strictEqual(error.nearest, nearest, label)
        if (allowed !== undefined) assert.deepStrictEqual(error.allowed, allowed, label)
      }
      const orders = (yield* gateway.simulator.requests).filter(({ method }) => method === "POST")
      assert.lengthOf(orders, 0)
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
    })
  )

  it.effect("a list has all of a member's videos, each under the id of its order", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      const client = yield* openaiOf(who)
      const ids: Array<string> = []
      for (let each = 0; each < 5; each++) {
        ids.push(yield* each % 2 === 1 ? orderOwn(who) : orderAsOpenai(who, client))
      }
      const listed = (query: OpenAI.VideoListParams) => done(() => listVideos(client, query))
      const all = yield* listed({ limit: 2 })
      assert.deepStrictEqual(idsOf(all), ids.toReversed())
      const oldest = yield* listed({ limit: 2, order: "asc" })
      assert.deepStrictEqual(idsOf(oldest), ids)
      for (const [place, video] of oldest.entries()) assertFinished(video, place % 2 === 1)
      for (const prefix of ["vt", "video"]) {
        const after = `${prefix}_${uuidOf(ids[2] ?? "")}`
        assert.deepStrictEqual(idsOf(yield* listed({ after, order: "asc" })), ids.slice(3))
      }
      const unknown = yield* rejection(() => client.videos.list({ after: "video_1" }))
      assert.deepInclude(unknown, { status: 400, param: "after" })
    })
  )

  it.effect("a key stands for one request of one of the two interfaces", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const key = { "idempotency-key": "one" }
      const first = yield* post(who, order, key)
      const id = decodeId(first.body)
      yield* finishVideo(who, `vt_${uuidOf(id)}`)
      const paid = yield* gateway.balance(who)
      const again = yield* post(who, order, key)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.strictEqual(again.text, first.text)
      const elsewhere = yield* gateway.call("/v1/videos/generations", {
        key: who.key,
        headers: key,
        json: order
      })
      assert.strictEqual(elsewhere.status, 422)
      yield* gateway.call(`/v1/videos/${id}`, { key: who.key, method: "DELETE" })
      const late = yield* post(who, order, key)
      assert.deepInclude(decodeRefused(late.body).error, { code: "task_not_found" })
      assert.include(late.text, id)
      assert.deepStrictEqual(yield* gateway.balance(who), paid)
    })
  )

  it.effect("its end is told with the id of the order, also of one that is deleted", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* openaiOf(who)
      const receiver = yield* makeReceiver()
      const endpoint = yield* create(who, receiver.url, ["video.completed", "video.failed"])
      const made = yield* done(() => client.videos.create(order))
      const own = yield* createVideo(who, { model: "film-1" })
      yield* receiver.awaited(2)
      const told = yield* Effect.forEach(receiver.received, (one) => {
        verified(endpoint.signing_secret, one)
        return done(() => client.webhooks.unwrap(one.text, one.headers, endpoint.signing_secret))
      })
      assert.sameMembers(told.map(decodeEvent), [made.id, own])
      const video = yield* done(() => client.videos.retrieve(made.id))
      assert.strictEqual(video.status, "completed")

      // It is told later than it is deleted.
      receiver.tell((response) => response.writeHead(503).end())
      const later = yield* done(() => client.videos.create(order))
      yield* receiver.awaited(1, ({ text }) => text.includes(later.id))
      yield* done(() => client.videos.delete(later.id))
      const [late] = yield* receiver.awaited(1, ({ body }) => Object.keys(body.data).length === 1)
      assert.deepStrictEqual(late?.body.data, { id: later.id })
    }).pipe(Effect.scoped)
  )

  it.effect(
    "events and waiting answer in the words of the id, and other calls say what is there",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const client = yield* openaiOf(who)
        const made = yield* done(() => client.videos.create(order))
        const read = (rest: string) =>
          gateway.call(`/v1/videos/${made.id}${rest}`, { key: who.key })
        const waited = yield* read("?wait=30")
        assert.deepInclude(waited.body, { id: made.id, object: "video", status: "completed" })
        const { text: events } = yield* read("/events")
        assert.include(events, "event: video.succeeded")
        for (const piece of [`"id":"${made.id}"`, '"object":"video","model":"film-1"']) {
          assert.include(events, piece)
        }
        const others: ReadonlyArray<readonly [number, () => PromiseLike<unknown>]> = [
          [400, () => client.videos.remix(made.id, { prompt: "x" })],
          [400, () => client.videos.edit({ prompt: "x", video: { id: made.id } })],
          [400, () => client.videos.extend({ prompt: "x", seconds: "8", video: { id: made.id } })],
          [404, () => client.videos.getCharacter("char_1")]
        ]
        for (const [status, call] of others) assert.deepInclude(yield* rejection(call), { status })
        const { text } = yield* gateway.call(`/v1/images/${made.id}`, { key: who.key })
        assert.include(text, "task_not_found")
      })
  )

  it.effect("leaves books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
