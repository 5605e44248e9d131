/** A listener of its own for the metrics, beside the public one. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ADMIN_TOKEN, startGateway } from "../support/cluster.ts"
import { temporaryServerDatabase } from "../support/databases.ts"
import { call } from "../support/http.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

it.live("metrics are open on their own port, and take the admin token on the public one", () =>
  Effect.gen(function* () {
    const gateway = yield* startGateway({
      DATABASE_URL: yield* temporaryServerDatabase,
      GATEWAY_METRICS_PORT: "0"
    })
    const [, url = ""] = yield* gateway.process.waitForLine(
      /metrics listener: serving on (http:[^"\s]+\/metrics)/
    )
    // Totals of the database are there once they were counted for the first time.
    const open = yield* Effect.repeat(call(url), {
      until: ({ text }) => text.includes("gateway_open_holds ")
    })
    assert.strictEqual(open.status, 200)
    assert.match(open.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
    assert.match(open.text, /^gateway_open_holds /m)
    assert.strictEqual((yield* call(url, { method: "HEAD" })).status, 200)
    const posted = yield* call(url, { method: "POST", json: {} })
    assert.deepStrictEqual([posted.status, posted.headers.get("allow")], [405, "GET"])
    for (const path of [
      "/",
      "/healthz",
      "/admin/v1/ledger/verify",
      "/METRICS",
      "/metrics/",
      "//metrics"
    ]) {
      const elsewhere = yield* call(new URL(url).origin + path, { key: ADMIN_TOKEN })
      assert.strictEqual(elsewhere.status, 404)
      assert.deepNestedInclude(elsewhere.body, { "error.code": "not_found" })
    }
    const whole = yield* rawRequest(url, [requestText("http://gateway/metrics")])
    assert.strictEqual(whole?.status, 404)
    const closed = yield* call(`${gateway.url}/metrics`)
    assert.strictEqual(closed.status, 401)
    assert.deepNestedInclude(closed.body, { "error.code": "invalid_api_key" })
    const operator = yield* call(`${gateway.url}/metrics`, { key: ADMIN_TOKEN })
    assert.strictEqual(operator.status, 200)
    // A scraper that keeps its connection open does not keep the gateway from stopping.
    yield* gateway.process.kill("SIGTERM")
    assert.isNull((yield* gateway.process.end).signal)
  }).pipe(Effect.scoped)
)

it.live("an empty variable asks for no listener", () =>
  Effect.gen(function* () {
    const gateway = yield* startGateway({
      DATABASE_URL: yield* temporaryServerDatabase,
      GATEWAY_METRICS_PORT: ""
    })
    assert.strictEqual((yield* call(`${gateway.url}/readyz`)).status, 200)
    assert.notInclude(
      gateway.process.stdout() + gateway.process.stderr(),
      "metrics listener: serving"
    )
  }).pipe(Effect.scoped)
)
