import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorWire, WireFault } from "../../src/adapters/wire/VendorWire.ts"
import { jsonBody, wireTo } from "../support/wire.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { imageOrder } from "./ImageAdapter.suite.ts"
import { good } from "./messages.forms.ts"
import { accountAt, imageAdapter } from "./support.ts"

const URL = "https://files.test/1.png?Expires=1"

/** How long an image call may last by default. */
const LIMIT_SECONDS = 180

/** Each protocol that may answer a task, and where it is then asked for it. */
const asked = [
  ["ip_b", "http://vendor.test/api/v1/tasks/t%2F1"],
  ["ip_c", "http://vendor.test/qwen/api/v1/tasks/image/t%2F1"]
] as const

type Reply = { readonly status?: number; readonly body: unknown } | "reset"

const task = (task_status: string, more: object = {}): Reply => ({
  body: { request_id: "r-1", output: { task_id: "t/1", task_status, ...more } }
})
const made: Reply = { body: { output: { ...good.output, task_status: "SUCCEEDED" } } }
const failedBody = {
  output: { task_id: "t/1", task_status: "FAILED", code: "DataInspectionFailed", message: "no" }
}

/**
 * A vendor without a socket, so that only the test's clock moves time: it takes the order as a task
 * and then answers one reply for each question.
 */
const ordering = Effect.fnUntraced(function* (
  protocol: "ip_b" | "ip_c",
  replies: ReadonlyArray<Reply>
) {
  const left = [...replies]
  const seen: Array<{ readonly line: string; readonly async: string | undefined }> = []
  const wire = wireTo((request) => {
    seen.push({
      line: `${request.method} ${request.url}`,
      async: request.headers["x-dashscope-async"]
    })
    const reply = request.method === "POST" ? task("PENDING") : (left.shift() ?? task("RUNNING"))
    return reply === "reset"
      ? Effect.fail(new WireFault({ cause: new Error("reset"), partial: null }))
      : Effect.succeed({ status: reply.status ?? 200, body: jsonBody(reply.body) })
  })
  const adapter = yield* imageAdapter(protocol).pipe(
    Effect.provide(Layer.provide(layerAdapters, Layer.succeed(VendorWire, wire)))
  )
  const order = imageOrder("m-1", { prompt: "x", n: 2 })
  const call = adapter.generate(accountAt("http://vendor.test"), order)
  const fiber = yield* Effect.forkChild(Effect.result(call))
  yield* TestClock.adjust(0)
  return { fiber, seen }
})

const seconds = (count: number) => Effect.repeat(TestClock.adjust("1 second"), { times: count - 1 })

describe("an order that is answered with a task", () => {
  it.effect.each([...asked])(
    "%s: is asked for every 2 seconds until it is done",
    ([protocol, url]) =>
      Effect.gen(function* () {
        const replies = [task("RUNNING"), { status: 500, body: "oops" }, "reset", made] as const
        const { fiber, seen } = yield* ordering(protocol, replies)
        yield* seconds(1)
        assert.strictEqual(seen.length, 1)
        yield* seconds(1)
        assert.deepStrictEqual(seen.slice(1), [{ line: `GET ${url}`, async: undefined }])
        yield* seconds(6)
        const result = yield* Fiber.join(fiber)
        assert.strictEqual(seen.length, 5)
        assert.deepStrictEqual(result._tag === "Success" ? result.success : result, {
          created: 8,
          data: [{ url: URL }]
        })
      })
  )

  it.effect.each([...asked])("%s: may show its images as results", ([protocol]) =>
    Effect.gen(function* () {
      const results = [{ url: URL }, { url: "" }, { code: "x" }, { url: `${URL}&2` }]
      const { fiber } = yield* ordering(protocol, [task("SUCCEEDED", { results })])
      yield* seconds(2)
      const result = yield* Fiber.join(fiber)
      const made = result._tag === "Success" ? result.success : {}
      assert.deepStrictEqual("data" in made ? made.data : result, [
        { url: URL },
        { url: `${URL}&2` }
      ])
    })
  )

  it.effect.each<readonly [says: string, body: unknown, failure: ReturnType<typeof lost>]>([
    [
      "a failed task is refused in its own words",
      failedBody,
      refused(200, failedBody, { effectiveStatus: 400, message: "no" })
    ],
    [
      "a finished task without an image is lost",
      { output: { task_status: "SUCCEEDED", choices: [] } },
      lost("broken_answer", 200)
    ],
    [
      "a cancelled task is refused also where it says nothing",
      { output: { task_status: "CANCELED" } },
      refused(200, null, { effectiveStatus: 502, message: "The vendor failed to do the job" })
    ]
  ])("%s", ([, body, failure]) =>
    Effect.gen(function* () {
      const { fiber } = yield* ordering("ip_b", [{ body }])
      yield* seconds(2)
      const result = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        result._tag === "Failure" ? failureOf(result.failure) : result,
        failure
      )
    })
  )

  it.effect("is given up when the time of an image call is over", () =>
    Effect.gen(function* () {
      const { fiber, seen } = yield* ordering("ip_b", [])
      yield* seconds(LIMIT_SECONDS - 1)
      assert.isUndefined(fiber.pollUnsafe())
      yield* seconds(1)
      const result = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        result._tag === "Failure" ? failureOf(result.failure) : result,
        lost("timeout")
      )
      assert.deepInclude(result._tag === "Failure" ? result.failure : result, {
        upstreamId: "t/1"
      })
      assert.isAtLeast(seen.length, LIMIT_SECONDS / 2)
    })
  )
})
