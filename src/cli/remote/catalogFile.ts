/** Reads a catalog from a file; its API keys may come from environment variables. */
import { Config, Effect, FileSystem, Option, Result, Schema } from "effect"
import { CatalogWrite } from "../../domain/catalog/CatalogDocument.ts"
import { issueFaults } from "../../domain/requestFields.ts"
import { CommandFailure, failureOf } from "../failures.ts"

const FromEnvironment = Schema.Struct({ env: Schema.String })
const isFromEnvironment = Schema.is(FromEnvironment)

/**
 * Replaces each `{"env": "NAME"}` under an `api_key` with the value of that environment variable.
 */
const expand = (value: unknown, path: string): Effect.Effect<unknown, CommandFailure> => {
  if (Array.isArray(value)) {
    return Effect.forEach(value, (entry, index) => expand(entry, `${path}[${index}]`))
  }
  if (typeof value !== "object" || value === null) return Effect.succeed(value)
  return Effect.map(
    Effect.forEach(Object.entries(value), ([name, inner]) => {
      const at = path === "" ? name : `${path}.${name}`
      const expandedValue =
        name === "api_key" && isFromEnvironment(inner) ? variable(inner.env, at) : expand(inner, at)
      return Effect.map(expandedValue, (expandedField) => [name, expandedField] as const)
    }),
    (entries) => Object.fromEntries(entries)
  )
}

const variable = (name: string, path: string) =>
  Config.option(Config.NonEmptyString(name)).pipe(
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.fail(new CommandFailure({ message: `${path}: ${name} is not set` })),
        onSome: (text: string) => Effect.succeed(text)
      })
    )
  )

const decode = Schema.decodeUnknownResult(CatalogWrite, {
  onExcessProperty: "error",
  errors: "all"
})

/** Reads a catalog file, or fails with all faults, each with its path. */
export const readCatalogFile = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(files.readFileString(file), failureOf(file))
  const json = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))(text),
    () => new CommandFailure({ message: `${file} is no JSON` })
  )
  const document = decode(yield* expand(json, ""))
  if (Result.isSuccess(document)) return document.success
  const faults = issueFaults(document.failure.issue).map(
    ({ path, message }) => `\n  ${path}: ${message}`
  )
  return yield* new CommandFailure({ message: `${file} is no catalog:${faults.join("")}` })
})
