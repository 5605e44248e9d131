/** A gateway that lives on beside those that are killed, and cleans up after them. */
import { Context, Effect, Layer } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "./cluster.ts"
import type { Environment } from "./gatewayProcesses.ts"

export class Survivor extends Context.Service<
  Survivor,
  { readonly env: Environment; readonly gateway: GatewayNode }
>()("test/Survivor") {}

/** The survivor with its environment, which the gateways that are killed share, and the vendors. */
export const layerSurvivor = <E, R>(environment: Effect.Effect<Environment, E, R>) =>
  Layer.effect(
    Survivor,
    Effect.gen(function* () {
      const env = yield* environment
      return { env, gateway: yield* startGateway(env) }
    })
  ).pipe(Layer.provideMerge(layerSimulator({ port: 0 })))
