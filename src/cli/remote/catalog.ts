/** The catalog: read, compared with a file, and replaced by one. */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import { CatalogDocument, type CatalogWrite } from "../../domain/catalog/CatalogDocument.ts"
import { EndsWith, Failed, failedTo, tellingOf } from "../failures.ts"
import { Json, tell } from "../output.ts"
import { diffCatalogs, diffLines } from "./catalogDiff.ts"
import { readCatalogFile } from "./catalogFile.ts"
import { asOperator, type Gateway } from "./connection.ts"

const encode = Schema.encodeEffect(CatalogDocument)

/** The catalog in force as JSON has it, and its version. */
const inForce = Effect.fnUntraced(function* (gateway: Gateway) {
  const [document, response] = yield* gateway.admin.readCatalog({
    responseMode: "decoded-and-response"
  })
  const version = Number(/^"(\d+)"$/.exec(response.headers.etag ?? "")?.[1])
  return { document: yield* encode(document), version: Number.isInteger(version) ? version : null }
})

const versionWords = (version: number | null): string =>
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
    const { document, version } = yield* asOperator(({ gateway }) => inForce(gateway))
    const text = JSON.stringify(document, null, 2)
    if (Option.isNone(output)) return yield* Console.log(text)
    const files = yield* FileSystem.FileSystem
    const file = output.value
    yield* Effect.mapError(files.writeFileString(file, `${text}\n`), failedTo(file))
    yield* tell({ file, version }, () => `The catalog${versionWords(version)} is in ${file}.`)
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

/** As it would be read back: without the values of keys, which are told nowhere. */
const asRead = ({ channels, ...tables }: CatalogWrite) =>
  encode({
    channels: channels.map(({ api_key: _, api_keys, ...channel }) => ({
      ...channel,
      ...(api_keys === undefined
        ? {}
        : { api_keys: api_keys.map(({ name, enabled }) => ({ name, enabled })) })
    })),
    ...tables
  })

/** What replacing the catalog in force would change, once the gateway has found no fault. */
const compare = Effect.fnUntraced(function* (gateway: Gateway, wished: CatalogWrite) {
  const preview = yield* gateway.admin.previewCatalog({ query: {}, payload: wished })
  const current = yield* inForce(gateway)
  return {
    version: preview.version,
    ...diffCatalogs(current.document, yield* asRead(wished)),
    // The values of keys are not read back: any that the file has is written.
    keys: wished.channels.flatMap(({ id, api_key, api_keys }) => [
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

/** The code of trouble, as `diff` has it: 1 says that something differs. */
const TROUBLE = 2

const diff = Command.make(
  "diff",
  { file },
  Effect.fn("cli.catalogDiff")(function* ({ file }) {
    const comparison = yield* Effect.gen(function* () {
      const wished = yield* readCatalogFile(file)
      return yield* asOperator(({ gateway }) => compare(gateway, wished))
    }).pipe(Effect.mapError((error) => new Failed({ message: error.message, exitCode: TROUBLE })))
    yield* tell(comparison, () => comparisonText(comparison))
    if (hasChanges(comparison)) return yield* new EndsWith({ code: 1 })
  })
).pipe(
  Command.withDescription(
    "Say what applying a file would change: ends with 0 for nothing, 1 for something, 2 for trouble"
  )
)

const confirm = Effect.fnUntraced(function* (removed: ReadonlyArray<string>) {
  const names = removed.join(", ")
  if (!process.stdin.isTTY || (yield* Json)) {
    return yield* new Failed({ message: `This removes ${names}: repeat it with --yes` })
  }
  const agreed = yield* Prompt.run(Prompt.Confirm({ message: `Remove ${names}?` })).pipe(
    Effect.catchTag("QuitError", () => Effect.succeed(false))
  )
  if (!agreed) return yield* new Failed({ message: "Nothing was changed" })
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
    const wished = yield* readCatalogFile(file)
    yield* asOperator(({ gateway, address }) =>
      Effect.gen(function* () {
        const comparison = yield* compare(gateway, wished).pipe(Effect.mapError(tellingOf(address)))
        const removed = comparison.removed.filter((path) => !path.startsWith("mounts["))
        if (removed.length > 0 && !yes) yield* confirm(removed)
        // What was looked at is what is replaced.
        const version = Option.getOrElse(ifVersion, () => comparison.version)
        const done = yield* gateway.admin.replaceCatalog({
          headers: { "if-match": `"${version}"` },
          payload: wished
        })
        yield* tell(
          { ...comparison, version: done.version },
          () => `${comparisonText(comparison)}\nVersion ${done.version} is in force.`
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
