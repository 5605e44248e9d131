/** Starts the gateway as configured by the environment, or runs the command of the command line. */

// This import must come before the first use of a schema: compiled decoders are several times
// faster.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect } from "effect"
import { runUntilStopped } from "./run.ts"

const FIRST_ARGUMENT = 2

// Node's own listener prints all warnings. Warnings about experimental features matter to the tests
// of this package, not to the operator of a gateway.
process.removeAllListeners("warning")
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") console.error(`${warning.name}: ${warning.message}`)
})

// Each program is loaded only when needed: a gateway starts without the commands, and most commands
// run without a gateway.
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
