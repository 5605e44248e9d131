/** The command line `media-gateway COMMAND`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Layer, Option } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { version } from "../version.ts"
import { doctorCommand } from "./doctor/doctor.ts"
import { documentCommand } from "./documents/documentCommands.ts"
import { ExitWith } from "./failures.ts"
import { databaseCommands } from "./local/databaseCommands.ts"
import { rotateCommand } from "./local/keyRotation.ts"
import { serverCommands } from "./local/servers.ts"
import { tenantCommand } from "./local/tenantCommands.ts"
import { Json } from "./output.ts"
import { accountCommands } from "./remote/accounts.ts"
import { budgetCommand } from "./remote/budgets.ts"
import { catalogCommand } from "./remote/catalog.ts"
import { channelCommand } from "./remote/channels.ts"
import { remoteFlags } from "./remote/connection.ts"
import { mcpCommand } from "./remote/mcp.ts"
import { moneyCommands } from "./remote/money.ts"
import { operatorCommand } from "./remote/operators.ts"
import { orderCommand } from "./remote/orders.ts"
import { orphanCommand } from "./remote/orphans.ts"
import { priceListCommand } from "./remote/priceLists.ts"
import { statementCommand } from "./remote/statements.ts"
import { taskCommand } from "./remote/tasks.ts"
import { usageCommand } from "./remote/usage.ts"
import { webhookCommand } from "./remote/webhooks.ts"

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
        priceListCommand,
        ...accountCommands,
        operatorCommand,
        ...moneyCommands,
        budgetCommand,
        channelCommand,
        orderCommand,
        taskCommand,
        orphanCommand,
        usageCommand,
        statementCommand,
        webhookCommand,
        mcpCommand
      ]
    },
    {
      group: "This installation",
      commands: [...databaseCommands, documentCommand, tenantCommand, rotateCommand, doctorCommand]
    }
  ]),
  Command.withGlobalFlags([Json, ...remoteFlags])
)

const USAGE_EXIT_CODE = 2

/**
 * Prints each usage error on its own line, then a hint that `--help` exists. Help text that the
 * user has not requested is printed on stderr.
 */
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

/** The message to print for a failure; null where the command has printed its message already. */
const messageOf = (error: unknown): string | null =>
  error instanceof ExitWith || CliError.isCliError(error)
    ? null
    : error instanceof Error
      ? error.message
      : String(error)

/**
 * Closes connections after each request: an idle keep-alive connection would keep the process alive
 * for seconds after the command has ended.
 */
const layerHttp = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.mapRequest(HttpClientRequest.setHeader("connection", "close"))
  )
).pipe(Layer.provide(FetchHttpClient.layer))

/** Prints failures, and fails with an error that carries the exit code of the process. */
const reportingFailures = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  command.pipe(
    Effect.tapCause((cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      const error = Cause.findErrorOption(cause)
      if (Option.isNone(error)) return Console.error(Cause.pretty(cause))
      const message = messageOf(error.value)
      return message === null ? Effect.void : Console.error(message)
    }),
    Effect.mapError((error) =>
      CliError.isCliError(error) ? new ExitWith({ code: USAGE_EXIT_CODE }) : error
    ),
    Effect.provide([
      NodeServices.layer,
      layerHttp,
      CliOutput.layerPresenter(presenter),
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
    ])
  )

/** Runs the command that the arguments name. */
export const runArguments = (args: ReadonlyArray<string>) =>
  reportingFailures(Command.runWith(commands, { version })(args))

/** Runs the command that the arguments of the process name. */
export const runCommands = reportingFailures(Command.run(commands, { version }))
