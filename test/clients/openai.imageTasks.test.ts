/** Images that the `openai` package orders now and reads later, past a proxy that cuts what takes long. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { done, keyedOpenaiOf, watchedFetch } from "../support/officialClients.ts"
import { moveTo } from "../support/orders.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"

interface Task {
  readonly id: string
  readonly task_status: string
  readonly data?: ReadonlyArray<{ readonly url: string }>
}

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "an image that the openai package reads later",
  (it) => {
    it.effect("is had by its id and charged once, wherever a proxy cuts", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const vendor = yield* heldVendor
        yield* moveTo(vendor.url)
        const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
        const { seen, fetch } = watchedFetch()
        const client = yield* keyedOpenaiOf(who, {
          baseURL: `http://127.0.0.1:${proxy.port}/v1`,
          fetch
        })
        const cutAnswer = yield* Effect.forkChild(proxy.cutOnce("answer", "respond-async"))
        const ordered = yield* done(() =>
          client.post<Task>("/images/generations", {
            body: { model: "paint-1", prompt: "a lighthouse" },
            headers: { prefer: "respond-async" }
          })
        )
        yield* Fiber.join(cutAnswer)
        assert.strictEqual(ordered.task_status, "processing")
        yield* vendor.asked

        const cutWait = yield* Effect.forkChild(proxy.cutOnce("work", "wait=30"))
        const reading = yield* Effect.forkChild(
          done(() => client.get<Task>(`/images/${ordered.id}`, { query: { wait: 30 } }))
        )
        yield* Fiber.join(cutWait)
        yield* vendor.letGo
        const made = yield* Fiber.join(reading)
        assert.strictEqual(made.task_status, "succeeded")
        assert.strictEqual(made.data?.length, 1)
        assert.deepStrictEqual(seen, ["lost", 202, "lost", 200])
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.8", held: "0" })
        yield* moveTo(null)
      }).pipe(Effect.scoped)
    )
  }
)
