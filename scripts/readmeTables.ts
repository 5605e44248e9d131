/**
 * Generates the tables of the READMEs that come from the sources. Each table is between two marks:
 * `<!-- begin NAME -->` and `<!-- end NAME -->`.
 *
 *   npm run readme
 */
import { readFileSync, writeFileSync } from "node:fs"
import { ConfigProvider, Effect, Exit, Redacted } from "effect"
import { Completions } from "effect/cli"
import { commands } from "../src/cli/commands.ts"
import { type GatewayConfig, loadConfig } from "../src/config.ts"
import { builtInProtocols } from "../src/domain/catalog/ProtocolTables.ts"
import type { VendorParameter } from "../src/domain/catalog/vendorParameters.ts"
import { type ErrorRow, errorTable, type RetryRule } from "../src/domain/errorTable.ts"

import { describeInputs, type SoundOfModel } from "../src/domain/video/families/VideoFamily.ts"
import type { VideoProtocolRow } from "../src/domain/video/VideoProtocol.ts"
import { relayedParameters } from "../src/domain/video/vendorFields.ts"

const root = new URL("../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), "utf8")

/**
 * Loads the configuration from these variables. Nothing is cached, so each load reads every
 * variable again and reports its name.
 */
const load = (variables: ReadonlyMap<string, string>, asked: (name: string) => void) =>
  Effect.runSyncExit(
    Effect.provideService(
      loadConfig,
      ConfigProvider.ConfigProvider,
      ConfigProvider.make((path) =>
        Effect.sync(() => {
          const name = path.join("_")
          asked(name)
          const value = variables.get(name)
          return value === undefined ? undefined : ConfigProvider.makeValue(value)
        })
      )
    )
  )

/** The value of each field as a text, so that two configurations can be compared. */
const fieldsOf = ({ settings, telemetry, ...config }: GatewayConfig): ReadonlyMap<string, string> =>
  new Map(
    Object.entries({ ...config, ...telemetry, ...settings }).map(([field, value]) => [
      field,
      Redacted.isRedacted(value) ? `given: ${Redacted.value(value)}` : JSON.stringify(value)
    ])
  )

/** Values of which at least one is valid for each variable; none of them is a default. */
const probes = [
  "7",
  "17",
  "true",
  "false",
  "Asia/Shanghai",
  "s3://bucket",
  "postgres://db.test",
  "https://a.test",
  "a=b",
  "http/json",
  "gzip",
  "none",
  "always_off",
  "0.5",
  "openid",
  "a=viewer"
]

/** The first field of the configuration that changes with the variable. */
const fieldOf = (name: string, defaults: ReadonlyMap<string, string>): string => {
  for (const probe of probes) {
    const exit = load(new Map([[name, probe]]), () => undefined)
    if (Exit.isFailure(exit)) continue
    for (const [field, value] of fieldsOf(exit.value)) {
      if (defaults.get(field) !== value) return field
    }
  }
  throw new Error(`no field of the configuration changes with ${name}`)
}

const docPattern = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+):/g

/** The comments above the fields of the configuration and of the settings, as text. */
const comments = new Map(
  ["src/runtime/Settings.ts", "src/operations/telemetryConfig.ts", "src/config.ts"].flatMap(
    (file) =>
      [...read(file).matchAll(docPattern)].map(([, comment = "", field = ""]) => [
        field,
        comment
          .replace(/^\s*\*/gm, "")
          .replace(/\s+/g, " ")
          .trim()
      ])
  )
)

const variableRows = (): ReadonlyArray<string> => {
  const names = new Set<string>()
  const exit = load(new Map(), (name) => names.add(name))
  if (Exit.isFailure(exit)) throw new Error("the configuration needs a variable")
  const defaults = fieldsOf(exit.value)
  return [...names]
    .filter((name) => name !== "")
    .map((name) => {
      const field = fieldOf(name, defaults)
      const comment = comments.get(field)
      if (comment === undefined) throw new Error(`${field} has no comment`)
      const value = JSON.parse(defaults.get(field) ?? "null")
      const text = `${value ?? ""}`
      return `| \`${name}\` | ${text === "" ? "" : `\`${text}\``} | ${comment} |`
    })
}

const mayRepeat: Readonly<Record<RetryRule, string>> = {
  no: "no",
  later: "after `retry_after`",
  "not by itself": "not by itself",
  "by its fields": "where `retryable` is true"
}

const errorRows = (): ReadonlyArray<string> =>
  Object.entries<ErrorRow>(errorTable).map(([code, row]) => {
    const fields = Object.keys(row.fields).map((name) =>
      name === "retryAfterSeconds" ? "`retry_after`" : `\`${name}\``
    )
    const status = code === "upstream_error" ? "400, 404, 413, 415, 422, 502, 503, 504" : row.status
    const when = row.retry === "by its fields" ? "; where `unpaid` is false," : ";"
    const doubt = row.mayFollowPaidCall ? `${when} a paid job may have begun` : ""
    const cells = [
      `\`${code}\``,
      status,
      row.meaning,
      fields.join(", "),
      `${mayRepeat[row.retry]}${doubt}`
    ]
    return `| ${cells.join(" | ")} |`
  })

const valuesOf = (parameter: VendorParameter): string => {
  switch (parameter.type) {
    case "boolean":
      return ""
    case "integer":
    case "number":
      return ` (${parameter.minimum} to ${parameter.maximum})`
    case "text":
      return parameter.max_length === undefined ? "" : ` (${parameter.max_length} characters)`
    case "choice":
      return ` (${parameter.values.join(", ")})`
    case "list":
      return parameter.values === undefined ? "" : ` (${parameter.values.join(", ")})`
  }
}

/** A row with the families of models that may lack some of its fields. */
type ParameterRow = Pick<VideoProtocolRow, "parameters" | "modelsWith" | "families">

const isOfSomeModels = ({ modelsWith = {}, families = [] }: ParameterRow, field: string): boolean =>
  Object.hasOwn(modelsWith, field) || families.some(({ parameters }) => !parameters.includes(field))

const parameterRows = (): ReadonlyArray<string> => {
  const rows = [...builtInProtocols.video].filter(([, { relays }]) => !relays)
  const relay = Object.entries(relayedParameters).map(
    ([family, parameters]): readonly [string, ParameterRow] => {
      const listed = rows.filter(([, { relayFamily }]) => relayFamily === family)
      const families = listed.flatMap(([, row]) => row.families ?? [])
      return [`\`vp_c\`, family ${family}`, { ...parameters, families }]
    }
  )
  const direct = rows.map(([name, row]): readonly [string, ParameterRow] => [`\`${name}\``, row])
  return [...direct, ...relay].map(([name, row]) => {
    const fields = Object.entries(row.parameters).map(
      ([field, parameter]) =>
        `\`${field}\`${valuesOf(parameter)}${isOfSomeModels(row, field) ? " \\*" : ""}`
    )
    return `| ${name} | ${fields.length === 0 ? "none" : fields.join(", ")} |`
  })
}

const familyRows = (): ReadonlyArray<string> =>
  [...builtInProtocols.video].flatMap(([protocol, row]) =>
    (row.families ?? []).map((family) => {
      const seconds = family.onlySeconds?.join(", ") ?? family.seconds.join(" to ")
      const cells = [
        `\`${protocol}\``,
        family.name,
        describeInputs(family),
        family.isSmart === true ? `${seconds}, -1` : seconds,
        family.resolutions.join(", "),
        soundWords[family.sound],
        family.parameters.map((name) => `\`${name}\``).join(", ")
      ]
      return `| ${cells.join(" | ")} |`
    })
  )

const soundWords: Readonly<Record<SoundOfModel, string>> = {
  switch: "`generate_audio`",
  always: "always",
  never: "never",
  unset: "no switch"
}

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<string>): string =>
  [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n")

/** A row for each command that can be run, with its arguments. */
const commandRows = (
  { subcommands, ...one }: Completions.CommandDescriptor,
  path: string
): ReadonlyArray<string> =>
  subcommands.length > 0
    ? subcommands.flatMap((inner) => commandRows(inner, `${path} ${inner.name}`.trim()))
    : [
        `| \`${[path, ...one.arguments.map(({ name }) => name.toUpperCase())].join(" ")}\` | ${one.description ?? ""} | ${one.flags.map(({ name }) => `\`--${name}\``).join(", ")} |`
      ]

interface Generated {
  readonly file: string
  readonly name: string
  readonly make: () => string
}

export const generated: ReadonlyArray<Generated> = [
  {
    file: "README.md",
    name: "errors",
    make: () => table(["code", "HTTP", "when", "says also", "send it again"], errorRows())
  },
  {
    file: "src/http/README.md",
    name: "parameters",
    make: () => table(["protocol", "fields of the vendor's own"], parameterRows())
  },
  {
    file: "src/http/README.md",
    name: "families",
    make: () =>
      table(
        ["protocol", "models", "inputs", "seconds", "resolutions", "sound", "fields of its own"],
        familyRows()
      )
  },
  {
    file: "src/operations/README.md",
    name: "variables",
    make: () => table(["variable", "default", "meaning"], variableRows())
  },
  {
    file: "src/cli/README.md",
    name: "commands",
    make: () =>
      table(["command", "does", "flags"], commandRows(Completions.fromCommand(commands), ""))
  }
]

const marked = (name: string) =>
  new RegExp(`(<!-- begin ${name} -->\n)[\\s\\S]*?\n?(<!-- end ${name} -->)`)

/** The expected content of the file. */
export const withTable = ({ file, name, make }: Generated): string => {
  const text = read(file)
  if (!marked(name).test(text)) throw new Error(`${file} has no marks of ${name}`)
  return text.replace(marked(name), (_, begin: string, end: string) => `${begin}${make()}\n${end}`)
}

if (import.meta.main) {
  for (const one of generated) writeFileSync(new URL(one.file, root), withTable(one))
}
