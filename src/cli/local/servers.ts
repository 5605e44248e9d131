/**
 * The servers that the command line starts. The module of a server is loaded only when its command
 * runs.
 */
import { ConfigProvider, Effect } from "effect"
import { Command } from "effect/cli"
import { ExitWith, failureOf } from "../failures.ts"

/**
 * The gateway as the environment configures it. Where it cannot start, it prints the reason itself.
 */
const gateway = Effect.flatMap(
  Effect.promise(() => import("../../program.ts")),
  ({ serveAsConfigured }) => serveAsConfigured
).pipe(Effect.mapError(() => new ExitWith({ code: 1 })))

const serve = Command.make("serve", {}, () => gateway).pipe(
  Command.withDescription("Serve as the environment describes it, as without a command")
)

const demo = Command.make(
  "demo",
  {},
  Effect.fn("cli.demo")(function* () {
    const environment = yield* ConfigProvider.ConfigProvider
    const provider = ConfigProvider.orElse(
      ConfigProvider.fromUnknown({ GATEWAY_DEMO: "1" }),
      environment
    )
    return yield* Effect.provideService(gateway, ConfigProvider.ConfigProvider, provider)
  })
).pipe(
  Command.withDescription(
    "Serve with simulated vendors, a catalog, money and a key, kept in DATA_DIR (.data), and print what to paste"
  )
)

const simulator = Command.make("simulator", {}, () =>
  Effect.flatMap(
    Effect.promise(() => import("../../simulator/simulatorProcess.ts")),
    ({ serveSimulator }) => serveSimulator
  ).pipe(Effect.mapError(failureOf("The simulator cannot start")))
).pipe(Command.withDescription("Serve the vendors' side alone, at GATEWAY_SIMULATOR_PORT"))

export const serverCommands = [serve, demo, simulator] as const
