/** The vendor simulator as a layer: real adapters can be tested against it over real sockets. */
import { Effect, Layer } from "effect"
import { demoCatalog } from "../demoCatalog.ts"
import { layerSimulator, Simulator } from "../simulator/Simulator.ts"

/** On a free port, with its book in memory. Sockets know no `TestClock`: run on the live clock. */
export const layerSimulatorTesting = Layer.suspend(() => layerSimulator({ port: 0 }))

/** The demo models of every protocol, mounted on the running simulator. */
export const simulatedCatalog = Effect.map(Simulator, ({ url }) => demoCatalog(url))
