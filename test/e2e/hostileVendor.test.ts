import { assert, layer } from "@effect/vitest"
import { Effect, Metric, Schema } from "effect"
import { unknownStatuses } from "../../src/services/metrics.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"

const succeeded = (more: object) => ({
  id: "job",
  status: "succeeded",
  content: { video_url: "https://files.test/o.mp4" },
  ...more
})

/** What a vendor says of the finished task, its state with us, and what is left of 10. */
const verdicts: ReadonlyArray<readonly [string, unknown, "succeeded" | "failed", string]> = [
  [
    "more tokens than any video has",
    succeeded({ usage: { completion_tokens: Number.MAX_SAFE_INTEGER } }),
    "succeeded",
    "0.064"
  ],
  [
    "tokens far beyond the order",
    succeeded({ usage: { completion_tokens: 10_800_001 } }),
    "succeeded",
    "0.064"
  ],
  [
    "a token for a video of 108,900",
    succeeded({ usage: { completion_tokens: 1 } }),
    "succeeded",
    "5.032"
  ],
  [
    "NUL in the address of the video",
    succeeded({ content: { video_url: "https://files.test/\u0000.mp4" } }),
    "succeeded",
    "5.032"
  ],
  [
    "NUL in the reason of a failure",
    { id: "job", status: "failed", error: { code: "Bad\u0000", message: "no\u0000pe" } },
    "failed",
    "10"
  ],
  [
    "half a surrogate pair in the reason of a failure",
    { id: "job", status: "failed", error: { code: "Bad", message: "no \ud83d" } },
    "failed",
    "10"
  ]
]

/** Has film-1 called at another vendor than the simulator. */
const callAt = Effect.fnUntraced(function* (url: string) {
  const gateway = yield* Gateway
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-a" ? { ...channel, base_url: url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
})

const State = Schema.Struct({ task_status: Schema.String })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, { ...quickSettings, taskDeadlineSeconds: 20 }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`a vendor that answers strangely (${kind})`, (it) => {
    it.effect.each(verdicts)("%s: the task ends and the books hold", ([, answer, state, left]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* brokenVendor((request) => ({
          body: request.method === "POST" ? { id: "job" } : answer
        }))
        yield* callAt(vendor.url)
        const who = yield* gateway.customer("10")
        const created = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "x" }
        })
        const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), created)
        const done = yield* gateway.call(`/v1/videos/${id}?wait=15`, { key: who.key })
        assert.strictEqual((yield* bodyAs(State, done)).task_status, state)
        assert.deepInclude(yield* gateway.balance(who), { balance: left, held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("an id that cannot be stored ends as an unreadable answer, with the hold back", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* brokenVendor({ body: { id: "job\u0000" } })
        yield* callAt(vendor.url)
        const who = yield* gateway.customer("10")
        const answer = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "x" }
        })
        assert.strictEqual(answer.status, 502, answer.text)
        assert.strictEqual(answer.headers.get("x-should-retry"), "false")
        assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
      })
    )

    it.effect("a status word nobody knows leaves the task running, and is counted", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* gateway.admin("/catalog", {
          method: "PUT",
          json: testCatalog(gateway.simulator.url)
        })
        const who = yield* gateway.customer("10")
        const counted = Metric.withAttributes(unknownStatuses, {
          protocol: "vp_a",
          channel: "ch-a"
        })
        const before = (yield* Metric.value(counted)).count
        const created = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "x sim:unknown-status" }
        })
        const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), created)
        yield* Metric.value(counted).pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: ({ count }) => count > before }),
          Effect.timeout("10 seconds")
        )
        const read = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
        assert.strictEqual((yield* bodyAs(State, read)).task_status, "processing")
      })
    )

    it.effect("a vendor whose polls hang holds up no task of another one", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* brokenVendor((request) =>
          request.method === "POST" ? { body: { id: "job" } } : "hang"
        )
        yield* callAt(vendor.url)
        const stuck = yield* gateway.customer("1000")
        const order = (key: string, model: string) =>
          gateway.call("/v1/videos/generations", { key, json: { model, prompt: "x" } })
        yield* Effect.all(
          Array.from({ length: 120 }, () => order(stuck.key, "film-1")),
          { concurrency: 20 }
        )
        const quick = yield* gateway.customer("10")
        yield* Effect.all([order(quick.key, "clip-1"), order(quick.key, "clip-1")])
        yield* gateway
          .balance(quick)
          .pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" }),
            Effect.timeout("10 seconds")
          )
        assert.strictEqual((yield* gateway.balance(quick)).balance, "4")
      })
    )
  })
}
