import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AccountCheckView, ChannelView } from "../../src/features/catalog/ChannelsApi.ts"
import { channelNow, channelUntil, testOf } from "../support/channels.ts"
import {
  bodyAs,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { type Scrape, scrape, scrapeUntil } from "../support/metrics.ts"
import { createVideo, errorOf, finishVideo, orderImages, orderVideo } from "../support/orders.ts"

const Page = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(ChannelView),
  has_more: Schema.Boolean
})

const post = (path: string) =>
  Effect.flatMap(Gateway, (gateway) => gateway.admin(path, { method: "POST" }))

layer(layerTestGateway("postgres", { ...quickSettings, totalsSeconds: 0.1 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("channels as operators see them", (it) => {
  it.effect("calls, failures, durations and drift of the last hour", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      const words = ["", "", "", "sim:refuse=500 a_secret_prompt", "sim:refuse=422"]
      for (const prompt of words)
        yield* orderImages(who, { model: "paint-1", prompt: `p ${prompt}` })
      yield* finishVideo(who, yield* createVideo(who, { model: "film-1" }))
      const told = yield* channelUntil("ch-i", ({ calls }) => calls === 5)
      assert.deepStrictEqual([told.failures, told.refused], [{ vendor_error: 1 }, 1])
      assert.isAbove(told.latency_ms.p50 ?? 0, 0)
      assert.isAtLeast(told.latency_ms.p95 ?? 0, told.latency_ms.p50 ?? 0)
      assert.deepStrictEqual([told.state, told.rest, told.open_tasks], ["closed", null, 0])
      assert.deepInclude(told.last_failure, { reason: "vendor_error", status: 500 })
      assert.isAbove(told.last_failure?.message.length ?? 0, 10)
      assert.notInclude(told.last_failure?.message, "a_secret_prompt")
      assert.deepStrictEqual(told.keys, [
        { name: "default", enabled: true, stored: true, rest: null }
      ])
      assert.deepStrictEqual(told.drift, [])

      const film = yield* channelUntil("ch-a", ({ drift }) => drift.length > 0)
      assert.strictEqual(film.drift[0]?.model, "film-1")
      assert.closeTo(film.drift[0]?.ratio ?? 0, 1, 0.1)
      assert.isNotNull(film.completion_lag_ms.p95)
      assert.isFalse((yield* channelNow("ch-keyless")).keys[0]?.stored)
    })
  )

  it.effect("metrics tell the same", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      const before = yield* scrape
      const madeAt = (metrics: Scrape) =>
        metrics.value("gateway_channel_calls_total", { channel: "ch-i", end: "made" }) ?? 0
      for (let order = 0; order < 3; order++) yield* orderImages(who, { model: "paint-1" })
      const counted = yield* scrapeUntil((metrics) => madeAt(metrics) - madeAt(before) === 3)
      assert.isAtLeast(
        counted.value("gateway_channel_call_duration_seconds_count", { channel: "ch-i" }) ?? 0,
        3
      )
      const id = yield* createVideo(who, { model: "clip-1", prompt: "sim:waits" })
      const openAt = (metrics: Scrape) =>
        metrics.value("gateway_channel_open_tasks", { channel: "ch-d" })
      yield* scrapeUntil((metrics) => openAt(metrics) === 1)
      yield* gateway.simulator.releaseTasks
      yield* finishVideo(who, id)
      yield* scrapeUntil((metrics) => openAt(metrics) === 0)

      yield* orderVideo(who, { model: "film-badkey" })
      const refused = yield* scrapeUntil(
        (metrics) => metrics.value("gateway_channel_keys_at_rest", { channel: "ch-bad" }) === 1
      )
      assert.strictEqual(refused.value("gateway_channel_state", { channel: "ch-bad" }), 0)
      yield* post("/channels/ch-bad/enable")
      yield* scrapeUntil(
        (metrics) => metrics.value("gateway_channel_keys_at_rest", { channel: "ch-bad" }) === 0
      )
      // The counts of a call are written in the background: later tests start from all of them.
      yield* channelUntil("ch-bad", ({ calls }) => calls === 1)
    })
  )

  it.effect("come in pages, by id", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const page = (query: string) =>
        Effect.flatMap(gateway.admin(`/channels${query}`), (answer) => bodyAs(Page, answer))
      const ids = ["ch-a", "ch-bad", "ch-d", "ch-down", "ch-i", "ch-keyless"]
      const all = yield* page("")
      assert.deepStrictEqual(
        all.data.map(({ id }) => id),
        ids
      )
      assert.isFalse(all.has_more)
      const first = yield* page("?limit=4")
      assert.isTrue(first.has_more)
      const rest = yield* page("?limit=4&after=ch-down")
      assert.deepStrictEqual(
        [...first.data, ...rest.data].map(({ id }) => id),
        ids
      )
      assert.strictEqual((yield* gateway.admin("/channels?after=none")).status, 400)
      const who = yield* gateway.customer("1")
      const asMember = yield* gateway.call("/admin/v1/channels", { key: who.key })
      assert.strictEqual(asMember.status, 401)
    })
  )

  it.effect(
    "one that is drained takes no orders, ends its tasks, and is taken into use again",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "clip-1", prompt: "sim:waits" })
        const drained = yield* post("/channels/ch-d/drain")
        assert.deepInclude(drained.body, { state: "draining", open_tasks: 1 })
        const refused = yield* orderVideo(who, { model: "clip-1" })
        assert.strictEqual(refused.status, 503, refused.text)
        assert.strictEqual((yield* errorOf(refused)).code, "channel_unavailable")
        yield* gateway.simulator.releaseTasks
        assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        assert.deepInclude(yield* channelNow("ch-d"), { state: "draining", open_tasks: 0 })
        const enabled = yield* post("/channels/ch-d/enable")
        assert.deepInclude(enabled.body, { state: "closed" })
        yield* finishVideo(who, yield* createVideo(who, { model: "clip-1" }))
        yield* gateway.verify
      })
  )

  it.effect("one that leaves the catalog is listed as long as its tasks run", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "clip-1", prompt: "sim:waits" })
      const catalog = testCatalog(gateway.simulator.url)
      const without = {
        channels: catalog.channels.filter((channel) => channel.id !== "ch-d"),
        models: catalog.models,
        mounts: catalog.mounts.filter(({ channel }) => channel !== "ch-d")
      }
      yield* gateway.admin("/catalog", { method: "PUT", json: without })
      assert.deepInclude(yield* channelNow("ch-d"), {
        name: null,
        state: "draining",
        open_tasks: 1,
        keys: []
      })
      yield* gateway.simulator.releaseTasks
      assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
      const { data } = yield* bodyAs(Page, yield* gateway.admin("/channels"))
      assert.notInclude(
        data.map((channel) => channel.id),
        "ch-d"
      )
      yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
    })
  )

  it.effect.each(["test", "drain", "enable"])("%s of one that is not there is told", (what) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const before = yield* gateway.admin("/catalog")
      const answer = yield* post(`/channels/nobody/${what}`)
      assert.strictEqual(answer.status, 404, answer.text)
      assert.strictEqual((yield* errorOf(answer)).code, "not_found")
      assert.strictEqual((yield* gateway.admin("/catalog")).text, before.text)
    })
  )

  it.effect(
    "a test tells whether the vendor is there and accepts the key, and orders nothing",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const catalog = testCatalog(gateway.simulator.url)
        const channels = [
          ...catalog.channels,
          { id: "ch-idle", name: "Idle", base_url: "http://127.0.0.1:9", api_key: "k" },
          {
            id: "ch-tls",
            name: "No TLS there",
            base_url: gateway.simulator.url.replace("http:", "https:"),
            api_key: "k"
          }
        ]
        const mounts = [...catalog.mounts, { model: "film-1", channel: "ch-tls", priority: 9 }]
        const json = { ...catalog, channels, mounts }
        assert.strictEqual((yield* gateway.admin("/catalog", { method: "PUT", json })).status, 200)
        const before = (yield* gateway.simulator.book).length
        const { calls } = yield* channelNow("ch-bad")

        const well = { reachable: true, tls: null, credential_accepted: true, key: "default" }
        for (const [id, protocol] of [
          ["ch-a", "vp_a"],
          ["ch-d", "vp_d"],
          ["ch-i", "ip_a"]
        ] as const) {
          const checks = yield* testOf(id)
          assert.deepInclude(
            checks.find((check) => check.protocol === protocol),
            well
          )
        }
        const refused = (yield* testOf("ch-bad"))[0]
        assert.deepInclude(refused, { reachable: true, credential_accepted: false })
        const down = (yield* testOf("ch-down"))[0]
        assert.deepInclude(down, { reachable: false, tls: null, credential_accepted: null })
        assert.isNumber(down?.duration_ms)
        const insecure = (yield* testOf("ch-tls"))[0]
        assert.deepInclude(insecure, { reachable: false, tls: false, credential_accepted: null })
        const keyless = (yield* testOf("ch-keyless"))[0]
        assert.deepInclude(keyless, { key: null, reachable: null, duration_ms: null })
        assert.deepInclude((yield* testOf("ch-idle"))[0], { protocol: null, reachable: null })
        const strange = (yield* testOf("ch-a")).find(({ protocol }) => protocol === "vp_z")
        assert.include(strange?.message, "does not speak vp_z")
        assert.strictEqual((yield* gateway.simulator.book).length, before)
        // It is no call of an order.
        assert.strictEqual((yield* channelNow("ch-bad")).calls, calls)
        yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
      })
  )

  it.effect("an account is tested before it is in the catalog, and its models are listed", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const test = (json: Readonly<Record<string, unknown>>) =>
        gateway.admin("/channels/test", { json: { api_key: "a-new-secret", ...json } })
      const { url } = gateway.simulator
      const before = (yield* gateway.simulator.book).length
      const images = yield* test({ protocol: "ip_a", base_url: `${url}/ip_a/v1` })
      assert.deepInclude(yield* bodyAs(AccountCheckView, images), {
        reachable: true,
        credential_accepted: true,
        models: ["sim-paint-1"]
      })
      const videos = yield* test({ protocol: "vp_d", base_url: `${url}/vp_d` })
      assert.deepInclude(yield* bodyAs(AccountCheckView, videos), {
        credential_accepted: true,
        models: null
      })
      const elsewhere = yield* test({ protocol: "openai", base_url: `${url}/nothing` })
      assert.deepInclude(yield* bodyAs(AccountCheckView, elsewhere), {
        credential_accepted: null,
        models: null
      })
      const base_url = "http://169.254.169.254/latest"
      const metadata = yield* test({ protocol: "openai", base_url })
      assert.strictEqual(metadata.status, 400, metadata.text)
      assert.include(metadata.text, '"param":"base_url"')
      assert.strictEqual((yield* gateway.simulator.book).length, before)
      assert.notInclude((yield* gateway.admin("/audit")).text, "a-new-secret")
    })
  )
})
