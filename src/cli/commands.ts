/** What `media-gateway` does when it is told more than its name. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Layer, Option } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { doctorCommand } from "./doctor/doctor.ts"
import { EndsWith } from "./failures.ts"
import { databaseCommands } from "./local/databaseCommands.ts"
import { rotateCommand } from "./local/keyRotation.ts"
import { serverCommands } from "./local/servers.ts"
import { Json } from "./output.ts"
import { accountCommands } from "./remote/accounts.ts"
import { catalogCommand } from "./remote/catalog.ts"
import { channelCommand } from "./remote/channels.ts"
import { remoteFlags } from "./remote/connection.ts"
import { moneyCommands } from "./remote/money.ts"
import { orphanCommand } from "./remote/orphans.ts"
import { statementCommand } from "./remote/statements.ts"
import { taskCommand } from "./remote/tasks.ts"
import { usageCommand } from "./remote/usage.ts"

/** The package's own. */
export const version = "0.1.0"

export const commands = Command.make("media-gateway").pipe(
  Command.withDescription(
    "One API in front of many vendors of generated media. Without a command: serves as the environment describes it"
  ),
  Command.withSubcommands([
    {
      group: "Servers",
      commands: [...serverCommands]
    },
    {
      group: "At a gateway",
      commands: [
        catalogCommand,
        ...accountCommands,
        ...moneyCommands,
        channelCommand,
        taskCommand,
        orphanCommand,
        usageCommand,
        statementCommand
      ]
    },
    {
      group: "This installation",
      commands: [...databaseCommands, rotateCommand, doctorCommand]
    }
  ]),
  Command.withGlobalFlags([Json, ...remoteFlags])
)

const USAGE = 2

/** Mistakes of the call, in a line each, with the way to the help; asked for, help is an answer. */
const presenter: CliOutput.Presenter = {
  present: (event) => {
    if (event._tag === "Help" && event.reason === "Implicit") {
      return Effect.flatMap(CliOutput.Formatter, ({ formatHelpDoc }) =>
        Console.error(formatHelpDoc(event.helpDoc))
      )
    }
    if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
    const lines = event.errors.map(({ message }) => message)
    return Console.error([...lines, `See ${event.commandPath.join(" ")} --help`].join("\n"))
  }
}

/** What a person is told of a failure: nothing where everything was said. */
const toldOf = (error: unknown): string | null =>
  error instanceof EndsWith || CliError.isCliError(error)
    ? null
    : error instanceof Error
      ? error.message
      : String(error)

/** A connection that is kept would keep the process for seconds after its command. */
const layerHttp = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.mapRequest(HttpClientRequest.setHeader("connection", "close"))
  )
).pipe(Layer.provide(FetchHttpClient.layer))

/** Tells what went wrong, and fails with what has the code that the process ends with. */
const told = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  run.pipe(
    Effect.tapCause((cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      const error = Cause.findErrorOption(cause)
      if (Option.isNone(error)) return Console.error(Cause.pretty(cause))
      const words = toldOf(error.value)
      return words === null ? Effect.void : Console.error(words)
    }),
    Effect.mapError((error) =>
      CliError.isCliError(error) ? new EndsWith({ code: USAGE }) : error
    ),
    Effect.provide([
      NodeServices.layer,
      layerHttp,
      CliOutput.layerPresenter(presenter),
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
    ])
  )

/** Does what these words after the command's name say. */
export const runWords = (words: ReadonlyArray<string>) =>
  told(Command.runWith(commands, { version })(words))

/** Does what the process was called with. */
export const runCommands = told(Command.run(commands, { version }))
