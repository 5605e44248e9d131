/** What `media-gateway` does when it is told more than its name. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Console, Effect, FileSystem, Option, Redacted, Schema, Stream } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Month } from "../domain/money/months.ts"
import { StatementView } from "../http/api/money/StatementsApi.ts"
import { statementFaults } from "./statementCheck.ts"

/** Told to the person who called, without a trace. */
class Failed extends Schema.TaggedError<Failed>()("Failed", { message: Schema.String }) {
  override get [CliError.userMessage]() {
    return this.message
  }
}

const failedTo = (what: string) => (error: Error) =>
  new Failed({ message: `${what}: ${error.message}` })

interface Place {
  readonly statement: Effect.Effect<StatementView, Failed>
  readonly entries: Stream.Stream<Uint8Array, Failed>
}

const inFiles = Effect.fnUntraced(function* (statement: string, entries: string) {
  const files = yield* FileSystem.FileSystem
  const place: Place = {
    statement: files
      .readFileString(statement)
      .pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(StatementView))),
        Effect.mapError(failedTo(statement))
      ),
    entries: Stream.mapError(files.stream(entries), failedTo(entries))
  }
  return place
})

/** An operator reads every organisation's, and a key that has the scope its own one's. */
const tokens = Config.all({
  admin: Config.option(Config.Redacted("GATEWAY_ADMIN_TOKEN")),
  key: Config.option(Config.Redacted("GATEWAY_KEY"))
})

const atGateway = Effect.fnUntraced(function* (
  gateway: string,
  month: string,
  organization: Option.Option<string>
) {
  const http = yield* HttpClient.HttpClient
  const { admin, key } = yield* tokens
  const token = Option.isSome(organization) ? admin : key
  if (Option.isNone(token)) {
    const name = Option.isSome(organization) ? "GATEWAY_ADMIN_TOKEN" : "GATEWAY_KEY"
    return yield* new Failed({ message: `${name} is not set` })
  }
  const path = Option.match(organization, {
    onNone: () => `/v1/statements/${month}`,
    onSome: (id) => `/admin/v1/organizations/${encodeURIComponent(id)}/statements/${month}`
  })
  const url = `${gateway.replace(/\/+$/, "")}${path}`
  const read = (accept: string) =>
    http
      .execute(
        HttpClientRequest.get(url, { headers: { accept } }).pipe(
          HttpClientRequest.bearerToken(Redacted.value(token.value))
        )
      )
      .pipe(Effect.flatMap(HttpClientResponse.filterStatusOk), Effect.mapError(failedTo(url)))
  const place: Place = {
    statement: read("application/json").pipe(
      Effect.flatMap(HttpClientResponse.schemaBodyJson(StatementView)),
      Effect.mapError(failedTo(url))
    ),
    entries: Stream.unwrap(
      Effect.map(read("text/csv"), ({ stream }) => Stream.mapError(stream, failedTo(url)))
    )
  }
  return place
})

const told = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const verify = Command.make(
  "verify",
  {
    gateway: told("gateway", "Address of a gateway, such as http://127.0.0.1:8080"),
    organization: told(
      "organization",
      "Id of the organisation; without it that of the key in GATEWAY_KEY"
    ),
    month: Flag.String("month").pipe(
      Flag.withDescription("The month, such as 2026-10"),
      Flag.withSchema(Month),
      Flag.optional
    ),
    statement: told("statement", "File of the statement as JSON, instead of a gateway"),
    entries: told("entries", "File of its entries as CSV, instead of a gateway")
  },
  Effect.fn("cli.statementVerify")(function* ({ gateway, month, organization, ...files }) {
    const place =
      Option.isSome(files.statement) && Option.isSome(files.entries)
        ? yield* inFiles(files.statement.value, files.entries.value)
        : Option.isSome(gateway) && Option.isSome(month)
          ? yield* atGateway(gateway.value, month.value, organization)
          : yield* new Failed({
              message: "Expected --gateway and --month, or --statement and --entries"
            })
    const statement = yield* place.statement
    const faults = yield* statementFaults(statement, place.entries).pipe(
      Effect.mapError((error) =>
        error instanceof Failed ? error : failedTo("The entries cannot be read")(error)
      )
    )
    const name = `${statement.month} of ${statement.organization_id}`
    if (faults.length > 0) {
      return yield* new Failed({ message: `${name} does not agree:\n${faults.join("\n")}` })
    }
    yield* Console.log(
      statement.sealed === null
        ? `${name} adds up to ${statement.closing_balance} ${statement.currency}. It is not sealed.`
        : `${name} is as it was sealed at ${statement.sealed.at}: ${statement.sealed.entries} entries, ` +
            `${statement.closing_balance} ${statement.currency}, SHA-256 ${statement.sealed.sha256}`
    )
  })
).pipe(
  Command.withDescription("Recompute a month from its entries, and its seal"),
  Command.withExamples([
    {
      command:
        "GATEWAY_ADMIN_TOKEN=... media-gateway statement verify --gateway http://127.0.0.1:8080 --organization org_... --month 2026-10",
      description: "What a gateway tells"
    },
    {
      command: "media-gateway statement verify --statement october.json --entries october.csv",
      description: "What was kept in files"
    }
  ])
)

const statement = Command.make("statement").pipe(
  Command.withDescription("Months of an organisation's money"),
  Command.withSubcommands([verify])
)

/** The package's own. */
export const version = "0.1.0"

const commands = Command.make("media-gateway").pipe(
  Command.withDescription("Without a command: one gateway, as the environment describes it"),
  Command.withSubcommands([statement])
)

export const runCommands = Command.run(commands, { version }).pipe(
  Effect.provide([NodeServices.layer, FetchHttpClient.layer])
)
