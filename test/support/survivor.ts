/** A gateway that lives on beside those that are killed, and cleans up after them. */
import { Context, Effect, Layer } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, loadCatalog, startGateway } from "./cluster.ts"
import type { Environment } from "./gatewayProcesses.ts"

export class Survivor extends Context.Service<
  Survivor,
  { readonly env: Environment; readonly gateway: GatewayNode }
>()("test/Survivor") {}

/**
 * The survivor with its environment, which the gateways that are killed share, and the vendors. It
 * has the catalog from the start, before anyone could tell it of one.
 */
export const layerSurvivor = <E, R>(
  environment: Effect.Effect<Environment, E, R>,
  catalogFor: (simulatorUrl: string) => typeof CatalogWrite.Encoded
) =>
  Layer.effect(
    Survivor,
    Effect.gen(function* () {
      const env = yield* environment
      const gateway = yield* startGateway(env)
      yield* loadCatalog(gateway, catalogFor((yield* Simulator).url))
      return { env, gateway }
    })
  ).pipe(Layer.provideMerge(layerSimulator({ port: 0 })))
