/**
 * The dashboard and the alerts ask for what there is: each expression parses, and names metrics and
 * labels that a gateway prints.
 */
import { execFile, execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { parser } from "@prometheus-io/lezer-promql"
import { Effect, Metric, Schema } from "effect"
import { Yaml } from "effect/encoding"
import * as metrics from "../../src/services/metrics.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { startGateway } from "../support/cluster.ts"
import { bodyAs, testCatalog } from "../support/gateway.ts"
import { prepareCustomer, processEnvironment, shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { samplesOf } from "../support/metrics.ts"

const folder = join(import.meta.dirname, "..", "..", "scripts", "monitoring")
const read = (name: string) => readFileSync(join(folder, name), "utf8")

const Dashboard = Schema.fromJsonString(
  Schema.Struct({
    panels: Schema.Array(
      Schema.Struct({
        title: Schema.String,
        description: Schema.optionalKey(Schema.String),
        targets: Schema.optionalKey(
          Schema.Array(Schema.Struct({ expr: Schema.String, legendFormat: Schema.String }))
        )
      })
    )
  })
)
const Rules = Schema.Struct({
  groups: Schema.Array(
    Schema.Struct({
      rules: Schema.Array(
        Schema.Struct({
          alert: Schema.String,
          expr: Schema.String,
          labels: Schema.Struct({ severity: Schema.Literals(["page", "ticket"]) }),
          annotations: Schema.Struct({ summary: Schema.String, action: Schema.String })
        })
      )
    })
  )
})

interface Asked {
  readonly where: string
  readonly expr: string
  /** Words with `$` or braces that name labels. */
  readonly words: string
}

const asked = (): ReadonlyArray<Asked> => [
  ...Schema.decodeUnknownSync(Dashboard)(read("grafana-dashboard.json")).panels.flatMap(
    ({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: `panel ${title}`,
        expr: expr.replaceAll("$__rate_interval", "5m"),
        words: legendFormat
      }))
  ),
  ...Schema.decodeUnknownSync(Rules)(Yaml.parse(read("alerts.yml"))).groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, annotations }) => ({
      where: `alert ${alert}`,
      expr,
      words: annotations.summary.replaceAll("$labels.", "")
    }))
  )
]

/** What an expression names: its metrics with the labels each is chosen by, and other labels. */
const namesIn = (expr: string) => {
  const selectors: Array<{ metric: string; labels: Array<string> }> = []
  const grouped = new Set<string>()
  let isSelecting = false
  let fault: string | null = null
  parser.parse(expr).iterate({
    enter: ({ name, from, to, type }) => {
      const text = expr.slice(from, to)
      if (type.isError) fault = `at ${from}: ${expr.slice(from)}`
      if (name === "VectorSelector") {
        isSelecting = true
        selectors.push({ metric: "", labels: [] })
      }
      const last = selectors.at(-1)
      if (isSelecting && name === "Identifier" && last !== undefined) last.metric = text
      if (name === "LabelName") {
        if (isSelecting) last?.labels.push(text)
        else grouped.add(text)
      }
    },
    leave: ({ name }) => {
      if (name === "VectorSelector") isSelecting = false
    }
  })
  return { selectors, grouped, fault }
}

/** What a few orders do not bring about, as the sources describe it. */
const rare: Readonly<Record<string, ReadonlyArray<string>>> = {
  gateway_surplus_images_total: ["channel"],
  gateway_vendor_strange_status_total: ["protocol", "channel"],
  gateway_late_success_total: ["protocol", "channel"],
  gateway_stale_claims_total: ["protocol", "channel"],
  gateway_channel_state: ["channel"],
  gateway_channel_open_tasks: ["channel"],
  gateway_channel_waiting_orders: ["channel"],
  gateway_channel_oldest_waiting_seconds: ["channel"],
  gateway_channel_keys_at_rest: ["channel"],
  gateway_archive_tries_total: ["end"],
  gateway_archived_bytes_total: [],
  gateway_webhook_attempts_total: ["end"],
  gateway_telemetry_dropped_total: ["signal"]
}
const scraperLabels = ["instance", "job"]

/** The labels of every metric in Prometheus' text, and those that its scraper adds. */
const printedLabels = (text: string): Map<string, Set<string>> => {
  const printed = new Map([["up", new Set(scraperLabels)]])
  for (const { name, labels } of samplesOf(text)) {
    const known = printed.get(name) ?? new Set(scraperLabels)
    for (const label of Object.keys(labels)) known.add(label)
    printed.set(name, known)
  }
  return printed
}

/** Adds what a few orders do not bring about; what they do must have the labels that are described. */
const addRare = (printed: Map<string, Set<string>>): void => {
  const declared = new Set(
    Object.values(metrics).flatMap((one) => (Metric.isMetric(one) ? [one.id] : []))
  )
  for (const [name, labels] of Object.entries(rare)) {
    assert.isTrue(declared.has(name), `${name} is declared nowhere`)
    const known = printed.get(name)
    if (known === undefined) printed.set(name, new Set([...labels, ...scraperLabels]))
    else for (const label of labels) assert.isTrue(known.has(label), `${name} has no ${label}`)
  }
}

type LabelsByMetric = ReadonlyMap<string, ReadonlySet<string>>

/** The labels that a query can speak of, each of which must be printed with its metric. */
const assertSelectors = (
  selectors: ReturnType<typeof namesIn>["selectors"],
  where: string,
  printed: LabelsByMetric
): ReadonlySet<string> => {
  const available = new Set<string>()
  for (const { metric, labels } of selectors) {
    const known = printed.get(metric) ?? assert.fail(`${where}: no gateway prints ${metric}`)
    for (const label of labels) {
      assert.isTrue(known.has(label), `${where}: ${metric} has no label ${label}`)
    }
    for (const label of known) available.add(label)
  }
  return available
}

const assertLabels = (
  { where, expr, words }: ReturnType<typeof asked>[number],
  printed: LabelsByMetric
): void => {
  const { selectors, grouped, fault } = namesIn(expr)
  assert.isNull(fault, where)
  assert.isNotEmpty(selectors, where)
  const available = assertSelectors(selectors, where, printed)
  for (const label of grouped) assert.isTrue(available.has(label), `${where}: no label ${label}`)
  for (const [, label = ""] of words.matchAll(/\{\{\s*([a-z_]+)\s*\}\}/g)) {
    const isThere = grouped.size === 0 ? available.has(label) : grouped.has(label)
    assert.isTrue(isThere, `${where}: ${label} is told of and not there`)
  }
}

it.live("every metric and label of the dashboard and the alerts is one that a gateway prints", () =>
  Effect.gen(function* () {
    const gateway = yield* startGateway(
      { ...(yield* processEnvironment("postgres")), GATEWAY_METRICS_PORT: "0" },
      shippedEntry
    )
    const simulator = yield* Simulator
    const { models, mounts, ...catalog } = testCatalog(simulator.url)
    const second = { model: "paint-down", channel: "ch-i", upstream_model: "u", priority: 1 }
    const { key } = yield* prepareCustomer(gateway, "1000", {
      ...catalog,
      models,
      mounts: [...mounts, second]
    })
    const order = (path: string, model: string) =>
      call(`${gateway.url}/v1/${path}`, { key, json: { model, prompt: "a lighthouse" } })
    const { id } = yield* bodyAs(
      Schema.Struct({ id: Schema.String }),
      yield* order("videos/generations", "film-1")
    )
    assert.strictEqual((yield* order("images/generations", "paint-down")).status, 200)
    assert.strictEqual((yield* order("videos/generations", "film-down")).status, 502)
    yield* call(`${gateway.url}/v1/videos/${id}?wait=20`, { key })
    yield* call(`${gateway.url}/v1/videos/${id}/events`, { key })

    const [, url = ""] = yield* gateway.process.waitForLine(
      /metrics listener: serving on (http:[^"\s]+\/metrics)/
    )
    const { text } = yield* call(url).pipe(
      Effect.delay("100 millis"),
      Effect.repeat({
        until: (answer) =>
          ["open_holds ", "channel_calls_total", "vendor_usage_total"].every((name) =>
            answer.text.includes(`gateway_${name}`)
          )
      }),
      Effect.timeout("30 seconds")
    )
    const printed = printedLabels(text)
    addRare(printed)

    const all = asked()
    assert.isAbove(all.length, 60)
    for (const question of all) assertLabels(question, printed)
  }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)

const promtool = process.env.PROMTOOL ?? "promtool"
const isThere = (() => {
  try {
    execFileSync(promtool, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

describe(isThere ? "promtool" : "promtool (not on this machine: set PROMTOOL to its path)", () => {
  it.skipIf(!isThere).each([
    ["check", "rules", "alerts.yml"],
    ["check", "config", "prometheus.yml"],
    ["test", "rules", "alerts.test.yml"]
  ])("%s %s %s", async (...args) => {
    const { stdout, stderr } = await promisify(execFile)(promtool, args, { cwd: folder })
    assert.match(stdout + stderr, /SUCCESS/)
  })
})
