import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"

/** Has one channel of the catalog called at another address. */
const callAt = Effect.fnUntraced(function* (channelId: string, url: string) {
  const gateway = yield* Gateway
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === channelId ? { ...channel, base_url: url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
})

/** Orders that many of a model, all at once. */
const orderMany = (who: Customer, model: string, count: number) =>
  Effect.all(
    Array.from({ length: count }, () => createVideo(who, { model })),
    { concurrency: 20 }
  )

const settled = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway
      .balance(who)
      .pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: ({ held }) => held === "0" }),
        Effect.timeout("20 seconds")
      )
  )

const envelope = (data: unknown): Reply => ({ body: { code: 0, message: "", data } })
const row = (id: string) => ({
  id,
  status: "succeeded",
  outputs: [{ type: "video", url: "https://files.test/o.mp4" }]
})
const idsIn = ({ target }: ReceivedRequest) =>
  (new URL(target, "http://vendor.test").searchParams.get("task_ids") ?? "").split(",")

/** A vendor of vp_d that numbers its jobs and answers questions about them as told. */
const unifiedVendor = (answer: (ids: ReadonlyArray<string>) => Reply) => {
  let jobs = 0
  return brokenVendor((request) =>
    request.method === "POST"
      ? envelope({ id: `job-${++jobs}`, status: "submitted" })
      : answer(idsIn(request))
  )
}

let jobs = 0
/** As vendors of vp_a answer an order. */
const newJob = () => ({ id: `job-${++jobs}` })

const State = Schema.Struct({ task_status: Schema.String })

layer(layerTestGateway("postgres", { ...quickSettings, pollerSeconds: 0.3 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("questions to a vendor that answers many ids", (it) => {
  it.effect("are few, and name each task", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* unifiedVendor((ids) => envelope(ids.map(row)))
      yield* callAt("ch-d", vendor.url)
      const who = yield* gateway.customer("1000")
      yield* orderMany(who, "clip-1", 60)
      yield* settled(who)
      const questions = (yield* vendor.requests).filter(({ method }) => method === "GET").map(idsIn)
      assert.sameMembers(
        questions.flat(),
        Array.from({ length: 60 }, (_, index) => `job-${index + 1}`)
      )
      assert.isBelow(questions.length, 30)
      for (const ids of questions) assert.isAtMost(ids.length, 20)
      assert.strictEqual((yield* gateway.balance(who)).balance, "820")
    })
  )

  it.effect("that are refused because of one task are asked again one by one", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* unifiedVendor((ids) =>
        ids.includes("job-3")
          ? { status: 400, body: { code: 1201, message: "bad id" } }
          : envelope(ids.map(row))
      )
      yield* callAt("ch-d", vendor.url)
      const who = yield* gateway.customer("1000")
      const ids = yield* orderMany(who, "clip-1", 20)
      yield* gateway
        .balance(who)
        .pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: ({ held }) => held === "3" }),
          Effect.timeout("20 seconds")
        )
      const states = yield* Effect.forEach(ids, (id) =>
        Effect.flatMap(gateway.call(`/v1/videos/${id}`, { key: who.key }), (answer) =>
          bodyAs(State, answer)
        )
      )
      const open = states.filter(({ task_status }) => task_status === "processing")
      assert.lengthOf(open, 1)
      yield* gateway.verify
    })
  )
})

layer(
  layerTestGateway("postgres", {
    ...quickSettings,
    askIntervalSeconds: 0.3,
    taskDeadlineSeconds: 3
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a vendor that says when to ask again", (it) => {
  it.effect("is left alone until then, but for one last question at the deadline", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* brokenVendor(({ method }) =>
        method === "POST"
          ? { body: newJob() }
          : { status: 429, headers: { "retry-after": "3600" }, body: { error: "slow down" } }
      )
      yield* callAt("ch-a", vendor.url)
      const who = yield* gateway.customer("10")
      const first = yield* createVideo(who, { model: "film-1" })
      const asked = Effect.map(
        vendor.requests,
        (all) => all.filter(({ method }) => method === "GET").length
      )
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT 1 FROM channel_pauses`.pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: (rows) => rows.length > 0 }),
        Effect.timeout("10 seconds")
      )
      const second = yield* createVideo(who, { model: "film-1" })
      for (const id of [first, second]) {
        assert.strictEqual((yield* finishVideo(who, id)).error?.code, "deadline_exceeded")
      }
      assert.strictEqual(yield* asked, 3)
      assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
      yield* gateway.verify
    })
  )
})

layer(layerTestGateway("postgres", { ...quickSettings, pollerSeconds: 1.5, pollsPerChannel: 4 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a channel with more due tasks than it may be asked at a time", (it) => {
  it.effect("is asked on as its answers come, without waiting for the next round", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* brokenVendor(({ method }) => ({
        body:
          method === "POST"
            ? newJob()
            : {
                id: "job",
                status: "succeeded",
                content: { video_url: "https://files.test/o.mp4" }
              }
      }))
      yield* callAt("ch-a", vendor.url)
      const who = yield* gateway.customer("1000")
      // Rounds alone, of four questions each, would take longer than is waited.
      yield* orderMany(who, "film-1", 80)
      yield* settled(who)
      yield* gateway.verify
    })
  )

  it.effect("is asked no more than that, by readers and by the poller together", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* brokenVendor(({ method }) =>
        method === "POST" ? { body: newJob() } : "hang"
      )
      yield* callAt("ch-a", vendor.url)
      const stuck = yield* gateway.customer("1000")
      const ids = yield* orderMany(stuck, "film-1", 20)
      const asked = Effect.map(
        vendor.requests,
        (all) => all.filter(({ method }) => method === "GET").length
      )
      yield* asked.pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: (count) => count === 4 }),
        Effect.timeout("20 seconds")
      )
      for (const id of ids) {
        const answer = yield* gateway.call(`/v1/videos/${id}`, { key: stuck.key })
        assert.strictEqual((yield* bodyAs(State, answer)).task_status, "processing")
      }
      const quick = yield* gateway.customer("10")
      yield* orderMany(quick, "clip-1", 2)
      yield* settled(quick)
      assert.strictEqual(yield* asked, 4)
    })
  )
})

layer(layerTestGateway("postgres", { ...quickSettings, askIntervalSeconds: 600 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a question whose connection is cut", (it) => {
  it.effect("is asked once more at once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      let questions = 0
      const vendor = yield* brokenVendor(({ method }) => {
        if (method === "POST") return { body: { id: "job" } }
        questions++
        return questions === 1
          ? "reset"
          : { body: { id: "job", status: "failed", error: { code: "bad", message: "no" } } }
      })
      yield* callAt("ch-a", vendor.url)
      const who = yield* gateway.customer("10")
      yield* createVideo(who, { model: "film-1" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE tasks SET next_poll_at = now()`
      // Its next question would come in ten minutes.
      assert.deepInclude(yield* settled(who), { balance: "10", held: "0" })
      assert.strictEqual(questions, 2)
    })
  )
})
