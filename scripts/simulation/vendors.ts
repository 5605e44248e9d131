/** The simulated vendors as a process of the world. Their faults are words in the prompts. */
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Connections } from "../../src/simulator/placeOrder.ts"
import { layerBench, Simulator, simulatorRoutes } from "../../src/simulator/Simulator.ts"
import { Tasks } from "../../src/simulator/Tasks.ts"
import { type Handler, makeHandler, type Network } from "./network.ts"

export const VENDORS_HOST = "vendors.test"
export const vendorsUrl = `http://${VENDORS_HOST}`

class Vendors extends Context.Service<Vendors, { readonly handle: Handler }>()(
  "simulation/Vendors"
) {}

const layerVendors = (network: Network) =>
  Layer.effect(
    Vendors,
    Effect.map(Effect.flatMap(HttpRouter.toHttpEffect(simulatorRoutes), makeHandler), (handle) => ({
      handle
    }))
  ).pipe(
    Layer.provideMerge(layerBench(vendorsUrl, {})),
    Layer.provide(HttpServer.layerServices),
    Layer.provide(
      Layer.succeed(Connections, {
        close: ({ source }) => {
          if (source instanceof Request) network.cut(source)
        }
      })
    )
  )

/** Opens the vendors' business; ends with the scope. */
export const makeVendors = Effect.fnUntraced(function* (network: Network) {
  const context = yield* Layer.buildWithMemoMap(
    layerVendors(network),
    Layer.makeMemoMapUnsafe(),
    yield* Effect.scope
  )
  return {
    handle: Context.get(context, Vendors).handle,
    book: Context.get(context, Simulator).book,
    /** When each job was asked for. */
    polls: Context.get(context, Tasks).pollHistory
  }
})
