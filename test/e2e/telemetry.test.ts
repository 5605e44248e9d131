/** What a collector gets of the shipped program, decoded: and that a bad collector harms nobody. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { startGateway } from "../support/cluster.ts"
import {
  type CollectedSpan,
  hanging,
  makeCollector,
  seriesOf,
  taking
} from "../support/collector.ts"
import { bodyAs } from "../support/gateway.ts"
import { prepareCustomer, processEnvironment, shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { allSeries } from "../support/metrics.ts"

const quick = {
  GATEWAY_METRICS_PORT: "0",
  OTEL_METRIC_EXPORT_INTERVAL: "100",
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_BLRP_SCHEDULE_DELAY: "50"
}
const Created = Schema.Struct({ id: Schema.String })
const traceId = "0af7651916cd43dd8448eb211c80319c"
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

const started = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>>,
  kind: "embedded" | "postgres" = "postgres"
) {
  const gateway = yield* startGateway(
    { ...(yield* processEnvironment(kind)), ...quick, ...env },
    shippedEntry
  )
  const { key } = yield* prepareCustomer(gateway, "1000")
  const order = (kind: "video" | "image", headers: Record<string, string> = {}) =>
    call(`${gateway.url}/v1/${kind}s/generations`, {
      key,
      headers,
      json: { model: kind === "video" ? "film-1" : "paint-1", prompt: "a lighthouse" }
    })
  return { gateway, key, order }
})

it.live(
  "a trace leads from the client through the order to the vendor, and on to its settlement",
  () =>
    Effect.gen(function* () {
      const collector = yield* makeCollector()
      const { gateway, key, order } = yield* started({
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
        OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20b,x-other=c",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=named"
      })
      const image = yield* order("image", { traceparent })
      assert.strictEqual(image.status, 200, image.text)
      const video = yield* order("video")
      const { id } = yield* bodyAs(Created, video)
      yield* call(`${gateway.url}/v1/videos/${id}?wait=20`, { key })

      const named = (name: string): CollectedSpan | undefined =>
        collector.spans.find((span) => span.name === name)
      yield* collector.until(
        () =>
          named("POST /v1/images/generations") !== undefined &&
          collector.spans.some(
            ({ attributes }) =>
              attributes["media.verdict"] === "Succeeded" && attributes["media.task.id"] === id
          )
      )
      /** Names from the span up to the root of its trace, as far as they are ours. */
      const way = (span: CollectedSpan | undefined): ReadonlyArray<string> =>
        span === undefined
          ? []
          : [
              span.name,
              ...way(
                collector.spans.find(
                  (one) => one.spanId === span.parentSpanId && one.traceId === span.traceId
                )
              )
            ]
      const ofImage = collector.spans.filter((span) => span.traceId === traceId)
      const inImage = (name: string) => ofImage.find((span) => span.name === name)
      const server = inImage("POST /v1/images/generations")
      assert.strictEqual(server?.parentSpanId, "b7ad6b7169203331")
      assert.include(server?.attributes, {
        "http.request.method": "POST",
        "http.route": "/v1/images/generations",
        "http.response.status_code": 200
      })
      assert.deepStrictEqual(way(inImage("vendor POST")), [
        "vendor POST",
        "ip_a.generate",
        "call ch-i",
        "generate_content paint-1",
        "POST /v1/images/generations"
      ])
      for (const step of ["hold", "capture"]) {
        assert.deepStrictEqual(way(inImage(step)).slice(1), [
          "generate_content paint-1",
          "POST /v1/images/generations"
        ])
      }
      assert.include(inImage("generate_content paint-1")?.attributes, {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "ip_a",
        "gen_ai.request.model": "paint-1",
        "gen_ai.response.model": "vendor-paint-1",
        "gen_ai.output.type": "image",
        "media.order.kind": "image",
        "media.images": 1
      })
      // What goes on after the answer has a trace of its own, which is linked to the order's.
      const ordered = named("generate_content film-1")
      assert.include(ordered?.attributes, { "media.task.id": id })
      const { traceId: ofOrder = "", spanId = "" } = ordered ?? {}
      const links = [{ traceId: ofOrder, spanId }]
      const settled = collector.spans.filter(
        ({ attributes }) => attributes["media.verdict"] === "Succeeded"
      )
      assert.deepEqual(settled[0]?.links, links)
      assert.include(settled[0]?.attributes, { "gen_ai.usage.output_tokens": 108900 })
      assert.deepEqual(named("poll vp_a")?.links, links)
      // Statements of the rounds that a gateway makes all the time are no traces.
      assert.deepStrictEqual(
        collector.spans.filter(
          ({ name, parentSpanId }) => name.startsWith("sql.") && parentSpanId === ""
        ),
        []
      )

      for (const resource of collector.resources) {
        assert.include(resource, {
          "service.name": "named",
          "deployment.environment.name": "test"
        })
        assert.match(String(resource["service.instance.id"]), /^[0-9a-f-]{36}$/)
      }
      for (const { headers } of collector.exports) {
        assert.include(headers, { "x-tenant": "a b", "x-other": "c" })
        assert.strictEqual(headers["content-type"], "application/x-protobuf")
        assert.isUndefined(headers.traceparent)
      }
      assert.include(
        collector.exports.map(({ headers }) => headers["content-encoding"]),
        "gzip"
      )
      yield* gateway.process.kill("SIGTERM")
      assert.deepStrictEqual(yield* gateway.process.end, { code: 0, signal: null })
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)

it.live("the collector gets every figure that /metrics tells, and the logs", () =>
  Effect.gen(function* () {
    const collector = yield* makeCollector()
    const { gateway, order } = yield* started(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_TRACES_SAMPLER: "always_off"
      },
      "embedded"
    )
    const [, metricsUrl = ""] = yield* gateway.process.waitForLine(
      /metrics listener: serving on (http:[^"\s]+\/metrics)/
    )
    assert.strictEqual((yield* order("image")).status, 200)
    const refused = yield* call(`${gateway.url}/v1/models`, { key: "unknown" })
    assert.strictEqual(refused.status, 401)

    // An export between two scrapes that say the same has to say it as well.
    let compared = 0
    for (let tries = 0; compared === 0 && tries < 50; tries++) {
      const before = yield* call(metricsUrl)
      const count = collector.snapshots.length
      yield* collector.until(() => collector.snapshots.length > count + 1)
      const exported = collector.snapshots[count + 1] ?? []
      const after = yield* call(metricsUrl)
      if (before.text !== after.text || !before.text.includes("gateway_open_holds ")) continue
      const scraped = allSeries(before.text)
      assert.deepStrictEqual([...seriesOf(exported)].sort(), [...scraped].sort())
      compared = scraped.size
    }
    assert.isAbove(compared, 100)
    yield* collector.until(() =>
      collector.logs.some(({ text }) => text.includes("metrics listener: serving"))
    )
    assert.deepStrictEqual(collector.spans, [])
    assert.include(
      collector.exports.map(({ headers }) => headers["content-type"]),
      "application/json"
    )
  }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)

it.live("a collector that hangs delays no order and no end, and is told of once", () =>
  Effect.gen(function* () {
    const collector = yield* makeCollector(hanging)
    const { gateway, order } = yield* started({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: "200",
      OTEL_METRICS_EXPORTER: "none"
    })
    const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => order("image"), {
      concurrency: 10
    })
    for (const { status, text } of answers) assert.strictEqual(status, 200, text)
    yield* gateway.process.waitForLine(/telemetry: export failed/)
    const printed = () => gateway.process.stdout() + gateway.process.stderr()
    yield* collector.until(() => collector.exports.length > 6)
    assert.strictEqual(printed().split("telemetry: export failed").length, 2)
    assert.isEmpty(collector.exports.filter(({ path }) => path === "/v1/metrics"))
    const [, metricsUrl = ""] = yield* gateway.process.waitForLine(
      /metrics listener: serving on (http:[^"\s]+\/metrics)/
    )
    const { text } = yield* call(metricsUrl)
    assert.match(text, /^gateway_telemetry_dropped_total\{signal="traces"\} [1-9]/m)
    collector.tell(hanging)
    yield* gateway.process.kill("SIGTERM")
    assert.deepStrictEqual(yield* gateway.process.end, { code: 0, signal: null })
  }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)

it.live(
  "nothing is sent where no collector is named or OpenTelemetry is disabled, and faults are sentences",
  () =>
    Effect.gen(function* () {
      const collector = yield* makeCollector(taking)
      const { order } = yield* started({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_SDK_DISABLED: "true"
      })
      assert.strictEqual((yield* order("image")).status, 200)
      assert.isEmpty(collector.exports)
      for (const [name, value] of [
        ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
        ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
        ["OTEL_EXPORTER_OTLP_HEADERS", "no pair"]
      ] as const) {
        const failed = yield* Effect.flip(started({ [name]: value }))
        assert.include(String(failed), `media-gateway cannot start: `)
        assert.include(String(failed), name)
      }
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)
