import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { noteCompletion } from "../../src/polling/VideoVerdicts.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { databasesInTurn, withoutConnections } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { type Scrape, scrape, scrapeUntil } from "../support/metrics.ts"
import { createVideo, finishVideo, orderImages } from "../support/orders.ts"

const settings = {
  ...quickSettings,
  pollerSeconds: 0.1,
  auditSeconds: 0.4,
  healthSeconds: 0.05,
  totalsSeconds: 0.05
}

const Check = Schema.Struct({ status: Schema.String, detail: Schema.optionalKey(Schema.String) })
const Report = Schema.Struct({
  status: Schema.String,
  checks: Schema.Record(Schema.String, Check)
})

const readiness = Effect.gen(function* () {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/readyz")
  return { http: answer.status, ...(yield* bodyAs(Report, answer)) }
})

type Readiness = Effect.Success<typeof readiness>

const readinessUntil = (wanted: (report: Readiness) => boolean) =>
  readiness.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: wanted }),
    Effect.timeout("20 seconds")
  )

const auditSeen = ({ checks }: Readiness) => checks.audit?.status === "ok"

/** What the log says of broken books, line by line. */
const alarms: Array<string> = []
const layerLog = Logger.layer([
  Logger.map(Logger.formatJson, (line) => {
    if (line.includes("ledger audit: invariant violated")) alarms.push(line)
  })
])

for (const kind of databasesInTurn(import.meta.filename)) {
  const layerGateway = layerTestGateway(kind, settings).pipe(Layer.provide(layerLog))
  layer(layerGateway, { excludeTestServices: true, timeout: "60 seconds" })(
    `operations (${kind})`,
    (it) => {
      it.effect("health and readiness answer without a key, and metrics to the operator", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const health = yield* gateway.call("/healthz")
          assert.deepStrictEqual([health.status, health.text], [200, '{"status":"ok"}'])

          yield* readinessUntil(auditSeen)
          const ready = yield* gateway.call("/readyz")
          const ok = { status: "ok" }
          assert.strictEqual(ready.status, 200)
          assert.deepStrictEqual(ready.body, {
            status: "ready",
            checks: {
              store: ok,
              migrations: ok,
              poller: ok,
              audit: ok,
              deadlines: ok,
              shutdown: ok
            }
          })

          const { key } = yield* gateway.customer("1")
          for (const stranger of [{}, { key }]) {
            const refused = yield* gateway.call("/metrics", stranger)
            assert.strictEqual(refused.status, 401)
            assert.deepNestedInclude(refused.body, {
              "error.type": "authentication_error",
              "error.param": null,
              "error.code": "invalid_api_key"
            })
          }
          const metrics = yield* gateway.metrics
          assert.strictEqual(metrics.status, 200)
          assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
          for (const path of ["/healthz", "/readyz", "/metrics"]) {
            const wrong = yield* gateway.call(path, { method: "POST", json: {} })
            assert.strictEqual(wrong.status, 405)
            assert.strictEqual(wrong.headers.get("allow"), "GET")
            assert.isTrue(wrong.headers.has("x-request-id"))
            const head = yield* gateway.call(path, { method: "HEAD", key: ADMIN_TOKEN })
            assert.strictEqual(head.status, 200)
          }
        })
      )

      it.effect("requests are counted by route pattern, method and status class", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const name = "gateway_http_requests_total"
          const series = [
            { route: "/v1/videos/:task_id", method: "GET", status: "4xx" },
            { route: "/healthz", method: "GET", status: "2xx" },
            { route: "unmatched", method: "other", status: "4xx" }
          ] as const
          const before = yield* scrape
          yield* gateway.call("/v1/videos/vt_secret-in-a-path?wait=0&q=also-secret")
          yield* gateway.call("/v1/videos/vt_another-one")
          yield* gateway.call("/healthz")
          yield* gateway.call("/no/such/path", { method: "OPTIONS" })
          const after = yield* scrape
          assert.deepStrictEqual(
            series.map(
              (labels) => (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0)
            ),
            [2, 1, 1]
          )
          const timed = (metrics: Scrape) =>
            metrics.value("gateway_http_request_duration_seconds_count", { route: "/healthz" }) ?? 0
          assert.strictEqual(timed(after) - timed(before), 1)
          // The scrape itself is on its way.
          assert.strictEqual(after.value("gateway_http_requests_in_flight"), 1)
        })
      )

      it.effect("open tasks, held money and the pools are told in totals", () =>
        Effect.gen(function* () {
          const processing = { state: "processing" }
          const money = { currency: "CNY" }
          const before = yield* scrapeUntil((now) => now.value("gateway_open_holds") === 0)
          const who = yield* (yield* Gateway).customer("10")
          const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=100000" })
          const during = yield* scrapeUntil(
            (now) => now.value("gateway_open_tasks", processing) === 1
          )
          assert.strictEqual(during.value("gateway_open_holds"), 1)
          assert.strictEqual(during.value("gateway_open_tasks", { state: "submitting" }), 0)
          assert.closeTo(during.value("gateway_held_money", money) ?? 0, 4.968, 1e-9)
          const added =
            (during.value("gateway_pool_money", money) ?? 0) -
            (before.value("gateway_pool_money", money) ?? 0)
          assert.closeTo(added, 10, 1e-9)
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE tasks SET deadline = now() WHERE id = ${id}`
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "failed")
          const after = yield* scrapeUntil((now) => now.value("gateway_open_holds") === 0)
          assert.strictEqual(after.value("gateway_open_tasks", processing), 0)
          assert.strictEqual(after.value("gateway_held_money", money), 0)
        })
      )

      it.effect("broken books stop their organisation alone, and repaired ones let it go on", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const sql = yield* SqlClient.SqlClient
          const broken = yield* gateway.customer("10")
          const sound = yield* gateway.customer("10")
          const stopOf = (who: Customer) =>
            sql<{ stopped: boolean; stopped_reason: string | null }>`
              SELECT stopped_at IS NOT NULL AS stopped, stopped_reason FROM pools
               WHERE organization_id = ${who.organizationId}`

          yield* sql`UPDATE pools SET balance = balance + 1
                      WHERE organization_id = ${broken.organizationId}`
          const degraded = yield* readinessUntil(
            ({ checks }) =>
              checks.audit?.detail === "1 broken invariants; 1 organisations take no new orders"
          )
          assert.deepStrictEqual([degraded.http, degraded.status], [200, "degraded"])
          assert.deepStrictEqual(yield* stopOf(broken), [
            {
              stopped: true,
              stopped_reason: `I1: pool balance is not the fold of its transfers (${broken.organizationId})`
            }
          ])
          assert.deepStrictEqual(yield* stopOf(sound), [{ stopped: false, stopped_reason: null }])
          const alarm = alarms.find((line) => line.includes(broken.organizationId)) ?? ""
          assert.include(alarm, `"organization_id":"${broken.organizationId}"`)
          assert.include(alarm, `"subject":"${broken.organizationId}"`)
          assert.include(alarm, '"invariant":"I1"')
          const violations = (count: number) =>
            scrapeUntil((now) => now.value("gateway_ledger_violations") === count)
          const metrics = yield* violations(1)
          assert.strictEqual(metrics.value("gateway_stopped_organizations"), 1)

          yield* sql`UPDATE pools SET balance = balance - 1
                      WHERE organization_id = ${broken.organizationId}`
          yield* readinessUntil(({ status }) => status === "ready")
          assert.deepStrictEqual(yield* stopOf(broken), [{ stopped: false, stopped_reason: null }])
          const repaired = yield* violations(0)
          assert.strictEqual(repaired.value("gateway_stopped_organizations"), 0)
          assert.isAbove(
            repaired.value("gateway_ledger_audit_timestamp_seconds") ?? 0,
            metrics.value("gateway_ledger_audit_timestamp_seconds") ?? 0
          )
        })
      )

      it.effect("how late the ends of tasks were noticed is told by channel", () =>
        Effect.gen(function* () {
          const upTo = (metrics: Scrape, le: string) =>
            metrics.value("gateway_task_completion_lag_seconds_bucket", { channel: "ch-a", le }) ??
            0
          const before = yield* scrape
          yield* noteCompletion("ch-a", 3)
          const after = yield* scrape
          assert.strictEqual(upTo(after, "2") - upTo(before, "2"), 0)
          assert.strictEqual(upTo(after, "4") - upTo(before, "4"), 1)
        })
      )
    }
  )
}

const VENDOR_SECONDS = 0.4

layer(layerTestGateway("postgres", settings), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("operations beside others", (it) => {
  it.effect("the wait for a vendor is no overhead of ours", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* heldVendor
      const catalog = testCatalog(gateway.simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
      )
      yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
      const who = yield* gateway.customer("10")
      yield* Effect.forkChild(
        Effect.andThen(vendor.asked, Effect.delay(vendor.letGo, `${VENDOR_SECONDS} seconds`))
      )
      const answer = yield* orderImages(who, { model: "paint-1" })
      assert.strictEqual(answer.status, 200, answer.text)

      const metrics = yield* scrape
      const route = { route: "/v1/images/generations" }
      const sum = (name: string) => metrics.value(`gateway_http_request_${name}_seconds_sum`, route)
      const took = sum("duration") ?? 0
      const ours = sum("overhead") ?? 0
      assert.isAbove(ours, 0)
      assert.isAtLeast(took - ours, VENDOR_SECONDS)
      // What waits for no vendor has no overhead to tell apart.
      assert.isNull(
        metrics.value("gateway_http_request_overhead_seconds_count", { route: "/healthz" })
      )
    })
  )

  it.effect("a long wait for a task's end is no overhead of ours", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* gateway.admin("/catalog", {
        method: "PUT",
        json: testCatalog(gateway.simulator.url)
      })
      const who = yield* gateway.customer("10")
      const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=100000" })
      yield* gateway.call(`/v1/videos/${id}?wait=1`, { key: who.key })
      const metrics = yield* scrape
      const route = { route: "/v1/videos/:task_id" }
      const sum = (name: string) => metrics.value(`gateway_http_request_${name}_seconds_sum`, route)
      assert.isAtLeast((sum("duration") ?? 0) - (sum("overhead") ?? 0), 1)
      // Questions to the vendor inside the wait are not taken off a second time.
      assert.isAbove(sum("overhead") ?? 0, 0)
    })
  )

  it.effect("no prompt, key, path or organisation is among the metrics", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const prompt = "canary-of-a-prompt"
      const id = yield* createVideo(who, { model: "film-1", prompt })
      yield* finishVideo(who, id)
      yield* orderImages(who, { model: "paint-1", prompt })
      yield* gateway.call(`/v1/${prompt}`, { key: "canary-key", method: "DELETE" })
      const { text } = yield* scrape
      const canaries = [prompt, "canary-key", who.key, id, who.organizationId, who.memberId]
      for (const canary of [...canaries, gateway.simulator.url, "vendor-key-a"]) {
        assert.notInclude(text, canary)
      }
    })
  )

  it.effect("while the database is away the gateway lives and is not ready", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* readinessUntil(({ status }) => status === "ready")
      yield* withoutConnections(
        Effect.gen(function* () {
          // A look whose connection breaks in its middle only finds that nothing can be written.
          const away = yield* readinessUntil(
            ({ checks }) => checks.store?.detail === "The database does not answer"
          )
          assert.strictEqual(away.http, 503)
          assert.strictEqual(away.checks.store?.status, "failing")
          assert.strictEqual((yield* gateway.call("/healthz")).status, 200)
          assert.strictEqual((yield* gateway.metrics).status, 200)
        })
      )
      const back = yield* readinessUntil(({ status }) => status === "ready")
      assert.strictEqual(back.http, 200)
    })
  )

  it.effect("on a database that lacks one of its migrations a gateway is not ready", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* readinessUntil(({ status }) => status === "ready")
      yield* sql`UPDATE migration_rules SET migration_id = -migration_id
                  WHERE migration_id = (SELECT max(migration_id) FROM migration_rules)`
      const behind = yield* readinessUntil(({ status }) => status === "not_ready")
      assert.strictEqual(behind.http, 503)
      assert.strictEqual(behind.checks.migrations?.status, "failing")
      assert.strictEqual(behind.checks.store?.status, "ok")
    })
  )
})
