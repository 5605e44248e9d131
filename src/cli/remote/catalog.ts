/**
 * The commands of the catalog: reading it, comparing it with a file, and replacing it with a file.
 */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import { CatalogDocument, type CatalogWrite } from "../../domain/catalog/CatalogDocument.ts"
import { CommandFailure, ExitWith, failureOf, toCommandFailure } from "../failures.ts"
import { Json, printResult } from "../output.ts"
import { diffCatalogs, diffLines } from "./catalogDiff.ts"
import { readCatalogFile } from "./catalogFile.ts"
import { asOperator, type Gateway } from "./connection.ts"

const encode = Schema.encodeEffect(CatalogDocument)

/** The catalog in force in its JSON encoding, and its version. */
const currentCatalog = Effect.fnUntraced(function* (gateway: Gateway) {
  const [document, response] = yield* gateway.admin.readCatalog({
    responseMode: "decoded-and-response"
  })
  const version = Number(/^"(\d+)"$/.exec(response.headers.etag ?? "")?.[1])
  return { document: yield* encode(document), version: Number.isInteger(version) ? version : null }
})

const versionText = (version: number | null): string =>
  version === null ? "" : ` of version ${version}`

const get = Command.make(
  "get",
  {
    output: Flag.File("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("File to write, instead of the standard output"),
      Flag.optional
    )
  },
  Effect.fn("cli.catalogGet")(function* ({ output }) {
    const { document, version } = yield* asOperator(({ gateway }) => currentCatalog(gateway))
    const text = JSON.stringify(document, null, 2)
    if (Option.isNone(output)) return yield* Console.log(text)
    const files = yield* FileSystem.FileSystem
    const file = output.value
    yield* Effect.mapError(files.writeFileString(file, `${text}\n`), failureOf(file))
    yield* printResult({ file, version }, () => `The catalog${versionText(version)} is in ${file}.`)
  })
).pipe(
  Command.withDescription("Print the catalog as JSON, without the vendors' keys"),
  Command.withExamples([
    {
      command: "media-gateway catalog get -o catalog.json",
      description: "Then edit the file, look at `catalog diff`, and `catalog apply` it"
    }
  ])
)

const file = Argument.File("file", { mustExist: true }).pipe(
  Argument.withDescription('The catalog as JSON; an api_key may be {"env": "NAME"}')
)

/**
 * The catalog in its JSON encoding as a later read would return it, without the values of API keys.
 */
const withoutKeyValues = ({ channels, ...tables }: CatalogWrite) =>
  encode({
    channels: channels.map(({ api_key: _, api_keys, ...channel }) => ({
      ...channel,
      ...(api_keys === undefined
        ? {}
        : { api_keys: api_keys.map(({ name, enabled }) => ({ name, enabled })) })
    })),
    ...tables
  })

/**
 * The changes that replacing the catalog in force would make. Fails where the gateway finds a fault
 * in the new catalog.
 */
const compare = Effect.fnUntraced(function* (gateway: Gateway, newCatalog: CatalogWrite) {
  const preview = yield* gateway.admin.previewCatalog({ query: {}, payload: newCatalog })
  const current = yield* currentCatalog(gateway)
  return {
    version: preview.version,
    ...diffCatalogs(current.document, yield* withoutKeyValues(newCatalog)),
    // The gateway never returns the values of API keys, so each value in the file counts as a
    // change.
    keys: newCatalog.channels.flatMap(({ id, api_key, api_keys }) => [
      ...(api_key === undefined || api_key === null ? [] : [`channels[${id}].api_key`]),
      ...(api_keys ?? []).flatMap(({ name, api_key: value }) =>
        value === undefined || value === null ? [] : [`channels[${id}].api_keys[${name}]`]
      )
    ]),
    warnings: preview.warnings
  }
})
type Comparison = Effect.Success<ReturnType<typeof compare>>

const comparisonText = (comparison: Comparison): string => {
  const lines = [
    ...diffLines(comparison),
    ...comparison.keys.map((path) => `! ${path} is written`),
    ...comparison.warnings.map(({ path, message }) => `? ${path}: ${message}`)
  ]
  return lines.length === 0 ? "Nothing is other than in the catalog in force." : lines.join("\n")
}

const hasChanges = ({ added, removed, changed }: Comparison): boolean =>
  added.length + removed.length + changed.length > 0

/**
 * The exit code of an error. As with the Unix command `diff`, exit code 1 means that there are
 * differences, so errors have another code.
 */
const ERROR_EXIT_CODE = 2

const diff = Command.make(
  "diff",
  { file },
  Effect.fn("cli.catalogDiff")(function* ({ file }) {
    const comparison = yield* Effect.gen(function* () {
      const newCatalog = yield* readCatalogFile(file)
      return yield* asOperator(({ gateway }) => compare(gateway, newCatalog))
    }).pipe(
      Effect.mapError(
        (error) => new CommandFailure({ message: error.message, exitCode: ERROR_EXIT_CODE })
      )
    )
    yield* printResult(comparison, () => comparisonText(comparison))
    if (hasChanges(comparison)) return yield* new ExitWith({ code: 1 })
  })
).pipe(
  Command.withDescription(
    "Say what applying a file would change: ends with 0 for nothing, 1 for something, 2 for trouble"
  )
)

const confirm = Effect.fnUntraced(function* (removedPaths: ReadonlyArray<string>) {
  const names = removedPaths.join(", ")
  if (!process.stdin.isTTY || (yield* Json)) {
    return yield* new CommandFailure({ message: `This removes ${names}: repeat it with --yes` })
  }
  const isConfirmed = yield* Prompt.run(Prompt.Confirm({ message: `Remove ${names}?` })).pipe(
    Effect.catchTag("QuitError", () => Effect.succeed(false))
  )
  if (!isConfirmed) return yield* new CommandFailure({ message: "Nothing was changed" })
})

const apply = Command.make(
  "apply",
  {
    file,
    ifVersion: Flag.Int("if-version").pipe(
      Flag.withDescription("Only where the catalog in force is still of this version"),
      Flag.optional
    ),
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDescription("Remove channels and models without asking"),
      Flag.withDefault(false)
    )
  },
  Effect.fn("cli.catalogApply")(function* ({ file, ifVersion, yes }) {
    const newCatalog = yield* readCatalogFile(file)
    yield* asOperator(({ gateway, address }) =>
      Effect.gen(function* () {
        const comparison = yield* compare(gateway, newCatalog).pipe(
          Effect.mapError(toCommandFailure(address))
        )
        const removedPaths = comparison.removed.filter((path) => !path.startsWith("mounts["))
        if (removedPaths.length > 0 && !yes) yield* confirm(removedPaths)
        // `if-match` replaces the catalog only if it still has the version that was compared.
        const version = Option.getOrElse(ifVersion, () => comparison.version)
        const replacement = yield* gateway.admin.replaceCatalog({
          headers: { "if-match": `"${version}"` },
          payload: newCatalog
        })
        yield* printResult(
          { ...comparison, version: replacement.version },
          () => `${comparisonText(comparison)}\nVersion ${replacement.version} is in force.`
        )
      })
    )
  })
).pipe(
  Command.withDescription(
    "Replace the catalog by a file; asks before channels or models are removed"
  ),
  Command.withExamples([
    {
      command: "VENDOR_KEY=... media-gateway catalog apply catalog.json --yes",
      description: 'The file has "api_key": {"env": "VENDOR_KEY"}'
    }
  ])
)

export const catalogCommand = Command.make("catalog").pipe(
  Command.withDescription("The one document of channels, models, mounts and prices"),
  Command.withSubcommands([get, diff, apply])
)
