/** What happens is told to the receivers of webhooks, signed. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { openaiOf } from "../support/officialClients.ts"
import { createVideo, errorOf, finishVideo } from "../support/orders.ts"
import { makeReceiver, withStatus } from "../support/receiver.ts"
import { create, EndpointBody, images, verified, webhookSettings } from "../support/webhooks.ts"

const DeliveryList = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      type: Schema.String,
      status: Schema.String,
      task_id: Schema.NullOr(Schema.String),
      attempts: Schema.Array(
        Schema.Struct({
          status: Schema.NullOr(Schema.Int),
          answer: Schema.NullOr(Schema.String),
          error: Schema.NullOr(Schema.String)
        })
      )
    })
  ),
  has_more: Schema.Boolean
})

const deliveries = Effect.fnUntraced(function* (who: Customer, id: string, query = "") {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/webhook_endpoints/${id}/deliveries${query}`, {
    key: who.key
  })
  return (yield* bodyAs(DeliveryList, answer)).data
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, webhookSettings), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`webhooks (${kind})`, (it) => {
    it.effect(
      "the end of a task is told as the API answers it, signed, and without its prompt",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const receiver = yield* makeReceiver()
          const { signing_secret } = yield* create(who, `${receiver.url}/hooks`, [
            "video.completed",
            "image.completed"
          ])
          const video = yield* createVideo(who, { model: "film-1", prompt: "a secret film" })
          yield* finishVideo(who, video)
          const image = yield* images(who)
          const told = yield* receiver.awaited(2)
          assert.lengthOf(told, 2)
          for (const [id, type, path] of [
            [video, "video.completed", `/v1/videos/${video}`],
            [image, "image.completed", `/v1/images/${image}`]
          ] as const) {
            const one = told.find(({ body }) => body.data.id === id)
            if (one === undefined) throw new Error(`nothing was told of ${id}`)
            assert.strictEqual(one.body.type, type)
            assert.match(one.id, /^msg_[0-9a-f]{32}$/)
            assert.deepStrictEqual(verified(signing_secret, one), one.body)
            assert.deepStrictEqual(
              one.body.data,
              (yield* gateway.call(path, { key: who.key })).body
            )
            assert.notMatch(one.text, /secret film|lighthouse/)
            const client = yield* openaiOf(who, { maxRetries: 0 })
            const unwrapped = yield* Effect.promise(() =>
              client.webhooks.unwrap(one.text, one.headers, signing_secret)
            )
            assert.deepStrictEqual<unknown>(unwrapped, one.body)
          }
        })
    )

    it.effect("only what was chosen is told, to its organisation alone", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [who, other] = [yield* gateway.customer("100"), yield* gateway.customer("100")]
        const receiver = yield* makeReceiver()
        yield* create(who, `${receiver.url}/failed`, ["image.failed", "video.failed"])
        yield* create(other, `${receiver.url}/other`, ["image.completed", "image.failed"])
        const { id } = yield* create(who, `${receiver.url}/images`, ["image.completed"])
        yield* images(who)
        const failed = yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" })
        yield* receiver.awaited(2)
        assert.deepStrictEqual(receiver.received.map(({ path }) => path).toSorted(), [
          "/failed",
          "/images"
        ])
        const one = receiver.received.find(({ path }) => path === "/failed")
        assert.deepInclude(one?.body.data, { id: failed, task_status: "failed" })
        assert.lengthOf(yield* deliveries(who, id), 1)
      })
    )

    it.effect("a message that was not taken is sent again, under its id, and is logged", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const receiver = yield* makeReceiver(withStatus(503))
        const { id, signing_secret } = yield* create(who, receiver.url, ["image.completed"])
        const task = yield* images(who)
        yield* receiver.awaited(2)
        receiver.tell(withStatus(204))
        const told = yield* receiver.awaited(3)
        assert.lengthOf(new Set(told.map((one) => one.id)), 1)
        for (const one of told) verified(signing_secret, one)
        const [log] = yield* deliveries(who, id).pipe(
          Effect.repeat({ until: ([first]) => first?.status === "delivered" })
        )
        assert.strictEqual(log?.id, told[0]?.id)
        assert.deepInclude(log, { type: "image.completed", task_id: task })
        assert.deepStrictEqual(log?.attempts.at(0), { status: 503, answer: "noted", error: null })
        assert.strictEqual(log?.attempts.at(-1)?.status, 204)
        assert.lengthOf(log?.attempts ?? [], told.length)

        const sentAgain = yield* gateway.call(`/v1/webhook_endpoints/${id}/redeliver`, {
          key: who.key,
          json: { delivery_id: log?.id }
        })
        assert.deepInclude(sentAgain.body, { redelivered: 1 })
        const again = yield* receiver.awaited(told.length + 1)
        assert.strictEqual(again.at(-1)?.id, log?.id)
        const all = yield* gateway.call(`/v1/webhook_endpoints/${id}/redeliver`, {
          key: who.key,
          json: { since: "2026-01-01T00:00:00Z" }
        })
        assert.deepInclude(all.body, { redelivered: 1 })
        yield* receiver.awaited(told.length + 2)
      })
    )

    it.effect("what is never taken has failed after the last attempt", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const receiver = yield* makeReceiver(withStatus(302, { location: "/elsewhere" }))
        const { id } = yield* create(who, receiver.url, ["image.completed"])
        yield* images(who)
        const [log] = yield* deliveries(who, id, "?status=failed").pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: (data) => data.length === 1 })
        )
        assert.deepStrictEqual(
          log?.attempts.map(({ status }) => status),
          [302, 302, 302, 302]
        )
        assert.isTrue(receiver.received.every(({ path }) => path === "/"))
      })
    )

    it.effect("410 disables an endpoint, and the others of its owner are told", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const receiver = yield* makeReceiver((response, { path }) =>
          response.writeHead(path === "/gone" ? 410 : 200).end()
        )
        const gone = yield* create(who, `${receiver.url}/gone`, ["image.completed"])
        yield* create(who, `${receiver.url}/other`, ["video.failed"])
        yield* images(who)
        const [told] = yield* receiver.awaited(1, ({ path }) => path === "/other")
        assert.strictEqual(told?.body.type, "webhook_endpoint.disabled")
        assert.deepInclude(told?.body.data, { id: gone.id, reason: "it answered 410 Gone" })
        const at = `/v1/webhook_endpoints/${gone.id}`
        assert.deepInclude((yield* gateway.call(at, { key: who.key })).body, {
          status: "disabled"
        })
        const missed = yield* images(who)
        yield* gateway.call(`/v1/images/${missed}?wait=30`, { key: who.key })
        const enabled = yield* gateway.call(at, { key: who.key, json: { enabled: true } })
        assert.deepInclude(enabled.body, { status: "enabled", disabled_reason: null })
        assert.lengthOf(yield* deliveries(who, gone.id), 1)
      })
    )

    it.effect("an order names where its end is told, signed with the callback secret", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const receiver = yield* makeReceiver()
        const rotated = yield* gateway.call("/v1/webhook_endpoints/callback/rotate_secret", {
          key: who.key,
          json: {}
        })
        const { signing_secret, id } = yield* bodyAs(EndpointBody, rotated)
        const image = yield* images(who, { callback_url: `${receiver.url}/images` })
        const video = yield* createVideo(who, {
          model: "film-1",
          prompt: "x",
          callback_url: `${receiver.url}/videos`
        })
        yield* finishVideo(who, video)
        const told = yield* receiver.awaited(2)
        for (const one of told) verified(signing_secret, one)
        assert.sameDeepMembers(
          told.map(({ path, body }) => [path, body.data.id]),
          [
            ["/images", image],
            ["/videos", video]
          ]
        )
        assert.lengthOf(yield* deliveries(who, id), 2)
        assert.lengthOf(yield* deliveries(who, "callback"), 2)
        const ofTask = (id: string) => deliveries(who, "callback", `?task_id=${id}`)
        for (const [id, type] of [
          [image, "image.completed"],
          [video, "video.completed"]
        ] as const) {
          const about = yield* ofTask(id)
          assert.lengthOf(about, 1)
          assert.deepInclude(about[0], { type, task_id: id })
        }
        // A video has an id in OpenAI's form too.
        assert.lengthOf(yield* ofTask(video.replace("vt_", "video_")), 1)
        assert.deepStrictEqual(yield* ofTask("vt_none"), [])
        const asOperator = yield* gateway.admin(
          `/webhook_endpoints/${id}/deliveries?task_id=${image}`
        )
        assert.lengthOf((yield* bodyAs(DeliveryList, asOperator)).data, 1)
        const list = yield* gateway.call("/v1/webhook_endpoints", { key: who.key })
        assert.deepInclude(list.body, { data: [] })
      })
    )

    it.effect("callbacks come without anybody having asked for their secret before", () =>
      Effect.gen(function* () {
        const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("100"))
        const receiver = yield* makeReceiver()
        yield* images(who, { callback_url: receiver.url })
        const [told] = yield* receiver.awaited(1)
        assert.match(told?.headers["webhook-signature"] ?? "", /^v1,/)
      })
    )

    it.effect("a low balance is told once a crossing, and a cap once a month", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1", { monthlyCap: "0.7" })
        const receiver = yield* makeReceiver()
        yield* create(who, receiver.url, ["balance.low", "cap.reached"])
        const at = `/organizations/${who.organizationId}`
        const set = yield* gateway.admin(`${at}/low_balance`, {
          method: "PUT",
          json: { threshold: "0.75" }
        })
        assert.deepInclude(set.body, { id: who.organizationId, low_balance: "0.75" })
        yield* images(who)
        yield* images(who)
        const [low] = yield* receiver.awaited(1)
        assert.strictEqual(low?.body.type, "balance.low")
        assert.deepStrictEqual(low?.body.data, { balance: "0.6", threshold: "0.75" })
        yield* images(who)
        for (let turn = 0; turn < 2; turn++) {
          const refused = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", prompt: "x" }
          })
          assert.strictEqual((yield* errorOf(refused)).code, "member_cap_exceeded")
        }
        const [cap] = yield* receiver.awaited(1, ({ body }) => body.type === "cap.reached")
        assert.deepInclude(cap?.body.data, {
          member_id: who.memberId,
          cap: "0.7",
          used: "0.6"
        })
        yield* gateway.admin(`${at}/deposits`, { json: { amount: "1", reference: "again" } })
        yield* gateway.admin(`${at}/low_balance`, {
          method: "PUT",
          json: { threshold: null }
        })
        assert.lengthOf(receiver.received, 2)
      })
    )
  })
}
