/** The command `media-gateway`, as a process of its own or inside the one of the test. */
import { Cause, ConfigProvider, Console, Effect, Exit, Runtime, Schema } from "effect"
import { runArguments } from "../../src/cli/commands.ts"
import { ADMIN_TOKEN } from "./cluster.ts"
import { type Environment, shippedEntry } from "./gatewayProcesses.ts"
import { startProcess } from "./processes.ts"

/** Runs a process to its end. */
export const runCommand = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  env: Environment = {}
) {
  const process = yield* startProcess({ entry: shippedEntry, args, env })
  const { code } = yield* process.end
  return { code, stdout: process.stdout(), stderr: process.stderr() }
}, Effect.scoped)

/** The same inside this process, which takes a fraction of the time. */
const runWordsHere = Effect.fnUntraced(function* (words: ReadonlyArray<string>, env: Environment) {
  const printed = { stdout: "", stderr: "" }
  const exit = yield* runArguments(words).pipe(
    Effect.provideService(Console.Console, {
      ...globalThis.console,
      log: (line: string) => {
        printed.stdout += `${line}\n`
      },
      error: (line: string) => {
        printed.stderr += `${line}\n`
      }
    }),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnvRecord({ DATA_DIR: "/nowhere", ...env })
    ),
    Effect.exit
  )
  const code = Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause))
  return { code, ...printed }
})

/** At a gateway, as its operator unless the environment says otherwise. */
export const atGateway =
  (url: string, env: Environment = { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }) =>
  (...words: ReadonlyArray<string>) =>
    runWordsHere(words, { GATEWAY_URL: url, ...env })

/** The one document of a `--json`. */
export const documentOf =
  <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) =>
  ({ stdout }: { readonly stdout: string }): Effect.Effect<S["Type"]> =>
    Effect.orDie(Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(stdout))
