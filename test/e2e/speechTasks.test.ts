/** Texts that are spoken now and heard later: the sound is stored in the archive. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { errorTable } from "../../src/domain/errorTable.ts"
import {
  type ArchiveBucket,
  Bucket,
  BucketFault
} from "../../src/services/results/ArchiveBucket.ts"
import { archiving, bucket, inState, load } from "../support/archives.ts"
import { databasesInTurn } from "../support/databases.ts"
import { databaseText } from "../support/databaseText.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"
import { orphanOf } from "../support/orphans.ts"
import { makeReceiver } from "../support/receiver.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { timelineOf } from "../support/timelines.ts"
import { latestUsage } from "../support/usage.ts"
import { create, verified } from "../support/webhooks.ts"

const order = (who: Customer, json: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/audio/speech", {
      key: who.key,
      headers: { prefer: "respond-async", ...headers },
      json: { model: "voice-1", input: "The harbour is calm.", ...json }
    })
  )

const Accepted = Schema.Struct({ id: Schema.String, task_status: Schema.Literal("processing") })
const Ended = Schema.Struct({
  id: Schema.String,
  task_status: Schema.Literals(["succeeded", "failed"]),
  content: Schema.optionalKey(Schema.Struct({ audio_url: Schema.String })),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
const Listed = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, model: Schema.String }))
})

const accepted = Effect.fnUntraced(function* (who: Customer, json: object = {}) {
  const answer = yield* order(who, json)
  assert.strictEqual(answer.status, 202, answer.text)
  return (yield* bodyAs(Accepted, answer)).id
})

const ended = Effect.fnUntraced(function* ({ key }: Customer, id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/audio/speech/${id}?wait=30`, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Ended, answer)
})

const heard = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, type: response.headers.get("content-type"), bytes }
  })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, archiving, { catalogFor: speechCatalog, bucket }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`speech that is heard later (${kind})`, (it) => {
    it.effect("is accepted at once, charged once, and stored as it would be answered", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* order(who, { response_format: "wav" })
        assert.strictEqual(answer.status, 202, answer.text)
        const { id } = yield* bodyAs(Accepted, answer)
        assert.match(id, /^sp_/)
        assert.strictEqual(answer.headers.get("preference-applied"), "respond-async")
        assert.strictEqual(answer.headers.get("location"), `/v1/audio/speech/${id}`)
        assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/)
        const result = yield* ended(who, id)
        assert.strictEqual(result.task_status, "succeeded")
        const sound = yield* heard(result.content?.audio_url ?? "")
        assert.deepInclude(sound, { status: 200, type: "audio/wav" })
        const whole = yield* load(
          who,
          "/v1/audio/speech",
          { "content-type": "application/json" },
          {
            method: "POST",
            headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
            body: JSON.stringify({
              model: "voice-1",
              input: "The harbour is calm.",
              response_format: "wav"
            })
          }
        )
        assert.isTrue(sound.bytes.equals(whole.bytes))
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.996", held: "0" })
        const content = yield* load(who, `/v1/audio/speech/${id}/content`, { range: "bytes=0-3" })
        assert.strictEqual(content.status, 206)
        assert.strictEqual(Buffer.from(content.bytes).toString(), "RIFF")
        assert.notInclude(yield* databaseText, "The harbour is calm.")
        yield* gateway.verify
      })
    )

    it.effect("has a receipt, a timeline, events and a place in the list, and can be deleted", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const colleague = yield* gateway.customer("1")
        const id = yield* accepted(who)
        yield* ended(who, id)
        const usage = yield* latestUsage(who)
        assert.deepInclude(usage, { task_id: id, output: 20, charge: "0.002" })
        assert.deepInclude(yield* timelineOf(id), { model: "voice-1", kind: "text" })
        const events = yield* gateway.call(`/v1/audio/speech/${id}/events`, { key: who.key })
        assert.match(events.text, /event: speech\.succeeded/)
        const list = yield* bodyAs(
          Listed,
          yield* gateway.call("/v1/audio/speech", { key: who.key })
        )
        assert.deepStrictEqual(list.data, [{ id, model: "voice-1" }])
        const others = yield* gateway.call("/v1/audio/speech?model=voice-han", { key: who.key })
        assert.deepStrictEqual((yield* bodyAs(Listed, others)).data, [])
        const path = `/v1/audio/speech/${id}`
        assert.strictEqual((yield* gateway.call(path, { key: colleague.key })).status, 404)
        assert.strictEqual((yield* gateway.call(`/v1/images/${id}`, { key: who.key })).status, 404)
        const deleted = yield* gateway.call(path, { key: who.key, method: "DELETE" })
        assert.deepStrictEqual(deleted.body, { id, object: "speech.deleted", deleted: true })
        assert.strictEqual((yield* gateway.call(path, { key: who.key })).status, 404)
        assert.strictEqual((yield* gateway.call(`${path}/content`, { key: who.key })).status, 404)
      })
    )

    it.effect("is one order under a repeated key, and another one without the preference", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const headers = { "idempotency-key": "one" }
        const first = yield* order(who, {}, headers)
        const again = yield* order(who, {}, headers)
        assert.strictEqual(again.status, 202, again.text)
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        const { id } = yield* bodyAs(Accepted, first)
        yield* ended(who, id)
        assert.strictEqual((yield* order(who, {}, headers)).text, first.text)
        assert.strictEqual((yield* order(who, {}, { ...headers, prefer: "" })).status, 422)
        assert.strictEqual((yield* gateway.balance(who)).balance, "0.998")
      })
    )

    it.effect(
      "costs nothing where the vendor refuses it, and the whole price where it breaks off",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const refused = yield* accepted(who, { input: "sim:refuse=400" })
          const failure = yield* ended(who, refused)
          assert.deepInclude(failure, { task_status: "failed" })
          assert.strictEqual(failure.error?.code, "upstream_error")
          assert.isNull(yield* orphanOf(refused))
          assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
          const broken = yield* accepted(who, { input: `${"a".repeat(587)} sim:breaks=2` })
          assert.strictEqual((yield* ended(who, broken)).task_status, "failed")
          assert.isNotNull(yield* orphanOf(broken))
          assert.deepInclude(yield* gateway.balance(who), { balance: "0.94", held: "0" })
          yield* inState(broken, "removing")
          yield* gateway.verify
        })
    )

    it.effect("tells its end to an endpoint and to the order's own receiver", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const receiver = yield* makeReceiver()
        const endpoint = yield* create(who, receiver.url, ["speech.completed", "speech.failed"])
        const id = yield* accepted(who)
        const [message] = yield* receiver.awaited(1)
        assert(message !== undefined)
        verified(endpoint.signing_secret, message)
        const { type, data } = message.body
        assert.deepStrictEqual([type, data.id], ["speech.completed", id])
        yield* accepted(who, { input: "sim:refuse=400", callback_url: `${receiver.url}/own` })
        const failures = yield* receiver.awaited(2, ({ body }) => body.type === "speech.failed")
        assert.deepStrictEqual(failures.map(({ path }) => path).toSorted(), ["/", "/own"])
      })
    )

    it.effect("is refused with events, and its receiver is refused without the preference", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const events = yield* order(who, { stream_format: "sse" })
        assert.deepInclude(yield* errorOf(events), { param: "stream_format" })
        const callback = { callback_url: "https://example.com/hook" }
        const receiver = yield* order(who, callback, { prefer: "" })
        assert.deepInclude(yield* errorOf(receiver), { param: "callback_url" })
        const closed = yield* order(who, { model: "voice-closed" })
        assert.deepInclude(yield* errorOf(closed), { code: "modality_not_ready" })
        assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
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

layer(
  layerTestGateway("embedded", archiving, {
    catalogFor: speechCatalog,
    bucket: Layer.succeed(Bucket, brokenBucket)
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("speech that is heard later, while the bucket is away", (it) => {
  it.effect("is not charged, and the operator is told", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const id = yield* accepted(who)
      assert.strictEqual((yield* ended(who, id)).task_status, "failed")
      assert.isNotNull(yield* orphanOf(id))
      assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
      yield* gateway.verify
    })
  )
})

layer(layerTestGateway("embedded", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("speech that is heard later, without an archive", (it) => {
  it.effect("is refused before the hold", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      const who = yield* gateway.customer("1")
      const refused = yield* order(who)
      assert.strictEqual(refused.status, errorTable.invalid_request.status)
      assert.deepInclude(yield* errorOf(refused), { param: "prefer", code: "invalid_request" })
      assert.deepStrictEqual(yield* sql`SELECT id FROM orders`, [])
    })
  )
})
