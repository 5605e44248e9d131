import { assert, describe, it } from "@effect/vitest"
import { makeScrapes, type Scrapes } from "../../src/workers/scrapes.ts"
import { parseMetrics } from "../support/metrics.ts"

const exposition = (numbers: {
  readonly answered: number
  readonly inFlight: number
  readonly open: number
}) => `# HELP gateway_http_requests_total Requests
# TYPE gateway_http_requests_total counter
gateway_http_requests_total{route="/v1/models",status="2xx"} ${numbers.answered}
# TYPE gateway_http_requests_in_flight gauge
gateway_http_requests_in_flight ${numbers.inFlight}
# TYPE gateway_open_tasks gauge
gateway_open_tasks{state="processing"} ${numbers.open}
# TYPE gateway_http_request_duration_seconds histogram
gateway_http_request_duration_seconds_bucket{route="/v1/models",le="0.5"} ${numbers.answered}
gateway_http_request_duration_seconds_bucket{route="/v1/models",le="+Inf"} ${numbers.answered}
gateway_http_request_duration_seconds_sum{route="/v1/models"} 1.5
gateway_http_request_duration_seconds_count{route="/v1/models"} ${numbers.answered}
`

const scrape = async (scrapes: Scrapes, workers: ReadonlyMap<number, string>) =>
  parseMetrics(
    await scrapes.scrape(new Set(workers.keys()), (worker, round) =>
      scrapes.collected(worker, round, workers.get(worker) ?? "")
    )
  )

const one = exposition({ answered: 3, inFlight: 1, open: 7 })
const other = exposition({ answered: 4, inFlight: 2, open: 7 })
const route = { route: "/v1/models" }
const answeredOf = (metrics: ReturnType<typeof parseMetrics>) =>
  metrics.value("gateway_http_requests_total", { ...route, status: "2xx" })

describe("the metrics of two workers", () => {
  it("add up, but for what both read from one database", async () => {
    const metrics = await scrape(
      makeScrapes(),
      new Map([
        [1, one],
        [2, other]
      ])
    )
    assert.strictEqual(answeredOf(metrics), 7)
    assert.strictEqual(metrics.value("gateway_http_requests_in_flight"), 3)
    assert.strictEqual(metrics.value("gateway_open_tasks", { state: "processing" }), 7)
    const bucket = "gateway_http_request_duration_seconds_bucket"
    assert.strictEqual(metrics.value(bucket, { ...route, le: "0.5" }), 7)
    assert.strictEqual(metrics.value("gateway_http_request_duration_seconds_sum", route), 3)
    assert.strictEqual(metrics.text.match(/^# TYPE gateway_open_tasks gauge$/gm)?.length, 1)
    assert.include(metrics.text, "# HELP gateway_http_requests_total Requests\n")
  })

  it("do not go back when one of them dies, and forget what it had in flight", async () => {
    const scrapes = makeScrapes()
    await scrape(
      scrapes,
      new Map([
        [1, one],
        [2, other]
      ])
    )
    scrapes.ended(1)
    const fresh = exposition({ answered: 1, inFlight: 0, open: 7 })
    const metrics = await scrape(
      scrapes,
      new Map([
        [2, other],
        [3, fresh]
      ])
    )
    assert.strictEqual(answeredOf(metrics), 8)
    assert.strictEqual(metrics.value("gateway_http_requests_in_flight"), 2)
  })

  it("do not wait for one that dies meanwhile", async () => {
    const scrapes = makeScrapes()
    const text = await scrapes.scrape(new Set([1, 2]), (worker, round) => {
      if (worker === 1) scrapes.collected(1, round, one)
      else queueMicrotask(() => scrapes.ended(2))
    })
    assert.strictEqual(answeredOf(parseMetrics(text)), 3)
  })
})
