/** Starts the gateway as configured by the environment, or runs the command of the command line. */

// This import compiles schema decoders, which makes them several times faster. It must come before
// the first use of a schema.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect } from "effect"
import { runUntilStopped } from "./run.ts"

const FIRST_ARGUMENT = 2

// Node's own listener prints all warnings, so it is replaced. Warnings about experimental features
// are not printed, because they matter only to the tests of this package.
process.removeAllListeners("warning")
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") console.error(`${warning.name}: ${warning.message}`)
})

// Each of the two programs is loaded only when it is needed: a gateway runs without the commands,
// and most commands run without a gateway.
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
