/** The vendor simulator as a layer, for tests of real adapters over real sockets. */
import { Effect, Layer } from "effect"
import { demoCatalog } from "../demoCatalog.ts"
import { layerSimulator, Simulator } from "../simulator/Simulator.ts"

/**
 * Starts the simulator on a free port, with its book in memory. Sockets do not follow a
 * `TestClock`, so it needs the live clock.
 */
export const layerSimulatorTesting = Layer.suspend(() => layerSimulator({ port: 0 }))

/** The demo models of every protocol, mounted on the running simulator. */
export const simulatedCatalog = Effect.map(Simulator, ({ url }) => demoCatalog(url))
