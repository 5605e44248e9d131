import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CallLog } from "../../src/services/CallLog.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings, testCatalog } from "../support/gateway.ts"
import { createVideo, finishVideo, orderImages, orderVideo } from "../support/orders.ts"
import { callAt, job, newestHold, timelineOf } from "../support/timelines.ts"

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, { ...quickSettings, callLogDays: 1 }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the timeline of an order (${kind})`, (it) => {
    it.effect("a video that succeeds: every state, call and entry, polls alike kept as one", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* callAt((method, asked) => {
          if (method === "POST") return { body: { id: "job-1" } }
          if (asked <= 4) return job("running", { progress: asked })
          return job("succeeded", {
            content: { video_url: "https://files.test/o.mp4?Signature=s" },
            usage: { completion_tokens: 200_000 }
          })
        })
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", duration: 6 })
        yield* finishVideo(who, id)
        const timeline = yield* timelineOf(id)

        assert.deepInclude(timeline, {
          id,
          kind: "video",
          organization_id: who.organizationId,
          member_id: who.memberId,
          model: "film-1",
          channel: "ch-a",
          protocol: "vp_a",
          listed_protocol: "vp_a",
          upstream_model: "vendor-film-1",
          upstream_id: "job-1",
          state: "succeeded",
          error: null,
          completion_tokens: 200_000,
          next_poll_at: null,
          idempotency_key: false,
          orphan: null
        })
        assert.deepInclude(timeline.summary, { seconds: 6, resolution: "720p" })
        assert.deepInclude(timeline.quote, {
          kind: "token_video",
          amount: "5.9616",
          unit_price: "0.000046",
          output_seconds: 6,
          estimated_tokens: 129_600
        })
        assert.deepStrictEqual(
          timeline.transitions.map(({ state, by }) => [state, by]),
          [
            ["submitting", "create"],
            ["processing", "create"],
            ["succeeded", "poll"]
          ]
        )
        assert.deepStrictEqual(
          timeline.ledger.map(({ kind: what, amount }) => [what, amount]),
          [
            ["hold", "5.9616"],
            ["capture", "9.2"],
            ["overage", "3.2384"],
            ["usage", "9.2"],
            ["release", "5.9616"]
          ]
        )
        assert.deepInclude(timeline.ledger[3]?.usage, { task_id: id, basis: "upstream_usage" })
        const times = [...timeline.transitions, ...timeline.ledger].map(({ at }) => at)
        assert.isTrue(times.every((at) => /^\d{4}-.*Z$/.test(at)))

        const calls = timeline.upstream_calls
        assert.strictEqual(timeline.upstream_calls_total, calls.length)
        const [submit, running] = calls
        const path = `${vendor.url}/api/v3/contents/generations/tasks`
        assert.deepInclude(submit, {
          purpose: "submit",
          method: "POST",
          url: path,
          status: 200,
          failure: null,
          repeats: 0
        })
        for (const poll of calls.slice(1)) {
          assert.deepInclude(poll, { purpose: "poll", method: "GET", url: `${path}/job-1` })
        }
        // Two may ask at a time, so an answer may be overtaken by the one behind it.
        const states = calls.slice(1).map(({ answer }) => JSON.stringify(answer))
        const words = states.map((text) => /"status":"(\w+)"/.exec(text)?.[1])
        assert.isTrue(
          words.every((word, at) => word !== words[at + 1]),
          words.join()
        )
        assert.includeMembers(words, ["running", "succeeded"])
        const asked = (yield* vendor.requests).filter(({ method }) => method === "GET").length
        const recorded = calls.slice(1).reduce((sum, { repeats }) => sum + 1 + repeats, 0)
        assert.isAtLeast(recorded, 5)
        assert.isAtMost(recorded, asked)
        const done = calls.find(({ answer }) => JSON.stringify(answer).includes("succeeded"))
        assert.deepNestedInclude(submit?.request, {
          model: "vendor-film-1",
          duration: 6,
          resolution: "720p",
          watermark: false,
          "content[0].text.characters": 12
        })
        assert.deepInclude(submit?.answer, { id: "job-1" })
        assert.deepInclude(running?.answer, { status: "running" })
        assert.deepNestedInclude(done?.answer, {
          "content.video_url": "https://files.test/o.mp4",
          "usage.completion_tokens": 200_000
        })
      })
    )

    it.effect("tasks that are asked for together each show their own part of the answer", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* gateway.admin("/catalog", {
          method: "PUT",
          json: testCatalog(gateway.simulator.url)
        })
        const who = yield* gateway.customer("100")
        yield* gateway.simulator.clearRequests
        const order = createVideo(who, { model: "clip-1", prompt: "x sim:slow=1" })
        const ids = yield* Effect.all([order, order, order], { concurrency: "unbounded" })
        yield* gateway
          .balance(who)
          .pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" }),
            Effect.timeout("30 seconds")
          )
        const together = (yield* gateway.simulator.requests).filter(({ query }) =>
          `${query.task_ids}`.includes(",")
        )
        assert.isNotEmpty(together)
        const timelines = yield* Effect.all(ids.map(timelineOf))
        for (const timeline of timelines) {
          const polls = JSON.stringify(timeline.upstream_calls.slice(1))
          for (const { id, upstream_id } of timelines) {
            assert.strictEqual(polls.includes(upstream_id ?? "?"), id === timeline.id)
          }
          assert.isAtLeast(timeline.upstream_calls.length, 2)
        }
      })
    )

    it.effect(
      "an image request is told by its hold: made, and where the vendor could not be reached",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const picture = Buffer.from("not really a picture".repeat(20)).toString("base64")
          yield* callAt(() => ({ body: { created: 1, data: [{ b64_json: picture }] } }))
          const who = yield* gateway.customer("100")
          const made = yield* orderImages(who, { model: "paint-1", n: 2, size: "1024x1024" })
          assert.strictEqual(made.status, 200, made.text)
          const timeline = yield* timelineOf(yield* newestHold(who.organizationId))
          assert.deepInclude(timeline, {
            kind: "image",
            state: "succeeded",
            model: "paint-1",
            channel: "ch-i",
            summary: null
          })
          assert.match(timeline.key_id ?? "", /^key_/)
          assert.deepInclude(timeline.quote, { kind: "image", amount: "0.4", images: 2 })
          assert.deepStrictEqual(
            timeline.transitions.map(({ state, by }) => [state, by]),
            [
              ["processing", "image"],
              ["succeeded", "image"]
            ]
          )
          assert.deepStrictEqual(
            timeline.ledger.map(({ kind: what, amount }) => [what, amount]),
            [
              ["hold", "0.4"],
              ["capture", "0.4"],
              ["usage", "0.4"],
              ["release", "0.4"]
            ]
          )
          const [call] = timeline.upstream_calls
          assert.deepInclude(call, { purpose: "image", status: 200, request: null, answer: null })
          assert.isAbove(call?.bytes ?? 0, picture.length)

          yield* orderImages(who, { model: "paint-down" })
          const down = yield* timelineOf(yield* newestHold(who.organizationId))
          assert.deepInclude(down, { state: "failed", model: "paint-down", orphan: null })
          assert.deepInclude(down.upstream_calls[0], { status: null, failure: "unreachable" })
          assert.deepNestedInclude(down.upstream_calls[0]?.request, { "prompt.characters": 12 })
        })
    )

    it.effect("an unknown id is not found, whatever its shape", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const ids = [
          "vt_01890a5d-ac96-774b-bcce-b302099a8057",
          "im_01890a5d-ac96-774b-bcce-b302099a8057",
          "vt_",
          "hold_1",
          "%00",
          "%F0%9F%98%80",
          "a'--",
          "x".repeat(100)
        ]
        for (const id of ids) {
          const answer = yield* gateway.admin(`/tasks/${id}`)
          assert.strictEqual(answer.status, 404, answer.text)
          assert.deepNestedInclude(answer.body, { "error.code": "task_not_found" }, answer.text)
        }
        const who = yield* gateway.customer("1")
        const foreign = yield* gateway.call(`/admin/v1/tasks/${ids[0]}`, { key: who.key })
        assert.strictEqual(foreign.status, 401)
      })
    )

    it.effect("calls are kept as long as the settings say", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const log = yield* CallLog
        yield* callAt(() => ({ status: 400, body: {} }))
        const who = yield* gateway.customer("100")
        yield* orderVideo(who, { model: "film-1" })
        const old = yield* newestHold(who.organizationId)
        yield* orderVideo(who, { model: "film-1" })
        const young = yield* newestHold(who.organizationId)
        yield* log.flush
        yield* Effect.orDie(sql`
          UPDATE upstream_calls SET started_at = now() - interval '25 hours' WHERE job_id = ${old}`)
        yield* Effect.orDie(sql`
          INSERT INTO upstream_calls (organization_id, job_id, started_at, id, channel_id, purpose,
                                      method, url, duration_ms, last_at)
          SELECT organization_id, job_id, started_at, 'uc_' || n, channel_id, purpose,
                 method, url, duration_ms, last_at
            FROM upstream_calls, generate_series(1, 2500) n WHERE job_id = ${old}`)
        yield* log.prune
        assert.deepStrictEqual((yield* timelineOf(old)).upstream_calls, [])
        assert.strictEqual((yield* timelineOf(young)).upstream_calls.length, 1)
      })
    )
  })
}
