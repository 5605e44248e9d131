/** Runs the simulator as a process. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer, Option, Schema } from "effect"
import { layerSimulator, Simulator } from "./Simulator.ts"

/** A port number; 0 takes a free port, as in `SimulatorOptions`. */
const PortOrFree = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65535 }))

const settings = Config.all({
  port: Config.schema(PortOrFree, "GATEWAY_SIMULATOR_PORT").pipe(Config.withDefault(8081)),
  host: Config.option(Config.NonEmptyString("SIMULATOR_HOST")),
  bookPath: Config.option(Config.NonEmptyString("SIMULATOR_BOOK")),
  publicUrl: Config.option(Config.NonEmptyString("SIMULATOR_PUBLIC_URL"))
})

const layerMain = Layer.unwrap(
  Effect.gen(function* () {
    const { port, host, bookPath, publicUrl } = yield* settings
    return layerSimulator({
      port,
      ...Option.match(host, { onNone: () => ({}), onSome: (host) => ({ host }) }),
      ...Option.match(bookPath, { onNone: () => ({}), onSome: (bookPath) => ({ bookPath }) }),
      ...Option.match(publicUrl, { onNone: () => ({}), onSome: (publicUrl) => ({ publicUrl }) })
    })
  })
)

const announce = Layer.effectDiscard(
  Effect.flatMap(Simulator, ({ url }) => Console.log(`The vendor simulator listens on ${url}`))
)

/** Serves until it is interrupted. */
export const serveSimulator = Layer.launch(announce.pipe(Layer.provide(layerMain)))

export const run = (): void => NodeRuntime.runMain(serveSimulator)
