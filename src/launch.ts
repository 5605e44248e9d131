/** One gateway as the environment describes it, or what the command line says. */

// Before the first schema is used: decoding by compiled functions costs a fraction.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect } from "effect"
import { runUntilStopped } from "./run.ts"

const FIRST_ARGUMENT = 2

// Node's own listener prints all of them. That a package uses what is experimental concerns its
// tests here, and nobody who starts a gateway.
process.removeAllListeners("warning")
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") console.error(`${warning.name}: ${warning.message}`)
})

// Each is loaded alone: a gateway starts without the commands, and most commands without a gateway.
const commands = Effect.flatMap(
  Effect.promise(() => import("./cli/commands.ts")),
  ({ runCommands }) => runCommands
)
const gateway = Effect.flatMap(
  Effect.promise(() => import("./program.ts")),
  ({ serveAsConfigured }) => serveAsConfigured
)

if (process.argv.length > FIRST_ARGUMENT) runUntilStopped(commands)
else runUntilStopped(gateway)
