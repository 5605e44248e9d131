import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"

const settings = {
  ...quickSettings,
  maxMediaBodyBytes: 64 * 1024 * 1024,
  // Room for the largest body four times, two of them one organisation's.
  bodyBudgetBytes: 256 * 1024 * 1024
}

/** An order whose length no header tells, as a proxy that streams would send it. */
const orderInChunks = (url: string, { key }: Customer, prompt: string): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const sent = request(`${url}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }
    })
    sent.once("response", (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    sent.once("error", (error) => resume(Effect.die(error)))
    sent.write('{"model":"paint-1",')
    sent.end(`"prompt":"${prompt}"}`)
    return Effect.sync(() => sent.destroy())
  })

layer(layerTestGateway("postgres", settings), { excludeTestServices: true, timeout: "60 seconds" })(
  "bodies of unknown length",
  (it) => {
    it.effect("are all taken, though each might have been as long as the longest", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const customer = yield* gateway.customer("100")
        const orders = Array.from({ length: 60 }, (_, index) =>
          orderInChunks(gateway.url, customer, `picture ${index}`)
        )
        const statuses = yield* Effect.all(orders, { concurrency: "unbounded" })
        assert.deepStrictEqual([...new Set(statuses)], [200])
        assert.strictEqual((yield* gateway.balance(customer)).balance, "88")
      })
    )
  }
)
