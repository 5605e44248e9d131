/** Monthly statements of an organisation: shown and verified. */
import { DateTime, Effect, FileSystem, Option, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { Month } from "../../domain/money/months.ts"
import { StatementView } from "../../features/statements/StatementsApi.ts"
import { CommandFailure, failureOf, toCommandFailure } from "../failures.ts"
import { facts, printResult, table } from "../output.ts"
import { statementFaults } from "../statementCheck.ts"
import { asMember, asOperator, type Remote, readAs } from "./connection.ts"

interface StatementSource {
  readonly statement: Effect.Effect<StatementView, CommandFailure, HttpClient.HttpClient>
  readonly entries: Stream.Stream<Uint8Array, CommandFailure, HttpClient.HttpClient>
}

const readFiles = Effect.fnUntraced(function* (statement: string, entries: string) {
  const files = yield* FileSystem.FileSystem
  const source: StatementSource = {
    statement: files
      .readFileString(statement)
      .pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(StatementView))),
        Effect.mapError(failureOf(statement))
      ),
    entries: Stream.mapError(files.stream(entries), failureOf(entries))
  }
  return source
})

/**
 * Calls `use` with the path of the statements. With an organisation, this is the operators' path
 * for that organisation. Without one, it is the path for the organisation of the API key, which
 * must have the scope `statements`.
 */
const withStatements =
  (organization: Option.Option<string>) =>
  <A, E, R>(use: (remote: Remote, path: string) => Effect.Effect<A, E, R>) =>
    Option.match(organization, {
      onNone: () => asMember((remote) => use(remote, "/v1/statements")),
      onSome: (id) =>
        asOperator((remote) =>
          use(remote, `/admin/v1/organizations/${encodeURIComponent(id)}/statements`)
        )
    })

const readStatement = (remote: Remote, path: string) =>
  readAs(remote, path, "application/json").pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(StatementView)),
    Effect.mapError(toCommandFailure(remote.address))
  )

const readEntries = (remote: Remote, path: string) =>
  Stream.unwrap(
    Effect.map(readAs(remote, path, "text/csv"), ({ stream }) =>
      Stream.mapError(stream, toCommandFailure(remote.address))
    )
  )

const fromGateway = (month: string, organization: Option.Option<string>) =>
  withStatements(organization)((remote, statements) => {
    const source: StatementSource = {
      statement: readStatement(remote, `${statements}/${month}`),
      entries: readEntries(remote, `${statements}/${month}`)
    }
    return Effect.succeed(source)
  })

const organization = Flag.String("organization").pipe(
  Flag.withDescription("Id of the organisation; without it that of the key in GATEWAY_KEY"),
  Flag.optional
)
const month = Flag.String("month").pipe(
  Flag.withDescription("The month, such as 2026-10"),
  Flag.withSchema(Month),
  Flag.optional
)

const statementText = (one: StatementView): string => {
  const { adjustments, charges, currency } = one
  const total = [
    ["opening balance", one.opening_balance],
    ["deposits", one.deposits.amount],
    ["credits", adjustments.credits.amount],
    ["charges", charges.gross],
    ["refunded", charges.returned],
    ["withdrawals", adjustments.withdrawals.amount],
    ["closing balance", one.closing_balance],
    ["held by open orders", one.open_amount]
  ] as const
  const models = charges.by_model.map(({ model, count, net }) => [model, count, net])
  return [
    `${one.organization_name} (${one.organization_id}), ${one.month}, in ${currency}`,
    facts(total),
    ...(models.length === 0 ? [] : [table(["model", "orders", "charged"], models)]),
    one.sealed === null
      ? "The month is not sealed."
      : `Sealed at ${one.sealed.at}: ${one.sealed.entries} entries, SHA-256 ${one.sealed.sha256}`
  ].join("\n\n")
}

const show = Command.make(
  "show",
  {
    organization,
    month,
    csv: Flag.Boolean("csv").pipe(
      Flag.withDescription("Every entry of the month as CSV, whose SHA-256 is the seal's"),
      Flag.withDefault(false)
    )
  },
  Effect.fn("cli.statementShow")(function* ({ organization, month, csv }) {
    const currentMonth = DateTime.formatIso(yield* DateTime.now).slice(0, 7)
    const requestedMonth = Option.getOrElse(month, () => currentMonth)
    const { statement, entries } = yield* fromGateway(requestedMonth, organization)
    if (csv) {
      return yield* Stream.runForEach(entries, (bytes) =>
        Effect.sync(() => process.stdout.write(bytes))
      )
    }
    const one = yield* statement
    yield* printResult(one, () => statementText(one))
  })
).pipe(Command.withDescription("Show a month; the present one (in UTC) where none is named"))

const verify = Command.make(
  "verify",
  {
    organization,
    month,
    statement: Flag.File("statement").pipe(
      Flag.withDescription("File of the statement as JSON, instead of a gateway"),
      Flag.optional
    ),
    entries: Flag.File("entries").pipe(
      Flag.withDescription("File of its entries as CSV, instead of a gateway"),
      Flag.optional
    )
  },
  Effect.fn("cli.statementVerify")(function* ({ month, organization, ...files }) {
    const source =
      Option.isSome(files.statement) && Option.isSome(files.entries)
        ? yield* readFiles(files.statement.value, files.entries.value)
        : Option.isSome(month)
          ? yield* fromGateway(month.value, organization)
          : yield* new CommandFailure({ message: "Expected --month, or --statement and --entries" })
    const statement = yield* source.statement
    const faults = yield* statementFaults(statement, source.entries).pipe(
      Effect.mapError((error) =>
        error instanceof CommandFailure ? error : failureOf("The entries cannot be read")(error)
      )
    )
    const name = `${statement.month} of ${statement.organization_id}`
    if (faults.length > 0) {
      return yield* new CommandFailure({ message: `${name} does not agree:\n${faults.join("\n")}` })
    }
    const { sealed, closing_balance, currency } = statement
    const document = { month: statement.month, organization_id: statement.organization_id, sealed }
    yield* printResult({ ok: true, ...document, closing_balance, currency }, () =>
      sealed === null
        ? `${name} adds up to ${closing_balance} ${currency}. It is not sealed.`
        : `${name} is as it was sealed at ${sealed.at}: ${sealed.entries} entries, ` +
          `${closing_balance} ${currency}, SHA-256 ${sealed.sha256}`
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

export const statementCommand = Command.make("statement").pipe(
  Command.withDescription("Months of an organisation's money"),
  Command.withSubcommands([show, verify])
)
