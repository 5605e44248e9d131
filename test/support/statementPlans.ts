/** What a PostgreSQL server runs, statement by statement, with the plan of each, from its log. */
import { Option, Predicate, Schema } from "effect"

/** Also those inside functions and triggers. */
export const planSettings = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_verbose": "on",
  "auto_explain.log_format": "json",
  log_line_prefix: ""
}

const Logged = Schema.fromJsonString(
  Schema.Struct({ "Query Text": Schema.String, Plan: Schema.Json })
)
const decode = Schema.decodeUnknownOption(Logged)

export interface Planned {
  readonly text: string
  /** All that it reads or writes. */
  readonly tables: ReadonlyArray<string>
  /** Of each reading of a table: its name, and whether only rows of given organisations are read. */
  readonly reads: ReadonlyArray<{ readonly table: string; readonly isByOrganization: boolean }>
}

type Node = Readonly<Record<string, unknown>>

const field = (node: object, name: string): unknown =>
  Predicate.hasProperty(node, name) ? node[name] : undefined

const nodesOf = (plan: unknown): ReadonlyArray<Node> => {
  if (!Predicate.isObject(plan)) return []
  const plans = field(plan, "Plans")
  return [plan, ...(Array.isArray(plans) ? plans.flatMap(nodesOf) : [])]
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** A day of the log counts as the log. */
const tableOf = (node: Node): string | undefined =>
  node["Relation Name"] === undefined
    ? undefined
    : text(node["Relation Name"]).replace(/_(\d{8}|other)$/, "")

const planned = (queryText: string, plan: unknown): Planned => {
  const nodes = nodesOf(plan)
  const conditions = nodes
    .flatMap((node) => Object.entries(node))
    .filter(([name]) => /( Cond|Filter)$/.test(name))
    .map(([, value]) => text(value))
  const pairs = conditions.flatMap((one) =>
    [...one.matchAll(/([^\s(]+) = (\S+)/g)].flatMap(([, left = "", right = ""]) => {
      const other = right.replace(/\)+$/, "")
      return [
        [left, other],
        [other, left]
      ]
    })
  )
  const reads = nodes
    .filter((node) => tableOf(node) !== undefined && / Scan$/.test(text(node["Node Type"])))
    .map((node) => {
      const table = tableOf(node) ?? ""
      const column = table === "organizations" ? "id" : "organization_id"
      return {
        table,
        column: `${text(field(node, "Alias"))}.${column}`,
        isPlace: "TID Cond" in node
      }
    })
  // Tables that are only joined with each other are read of all organisations.
  const open = new Set(reads.map(({ column }) => column))
  for (let before = -1; before !== open.size; ) {
    before = open.size
    for (const [column = "", other = ""] of pairs) if (!open.has(other)) open.delete(column)
  }
  return {
    text: queryText,
    tables: nodes.flatMap((node) => tableOf(node) ?? []),
    // A row that was found by its organisation may then be changed by where it stands.
    reads: reads.map(({ table, column, isPlace }) => ({
      table,
      isByOrganization:
        !open.has(column) ||
        (isPlace && reads.some((other) => other.table === table && !open.has(other.column)))
    }))
  }
}

/** Gathers statements from the pieces of a log. */
export const makeStatementPlans = () => {
  let rest = ""
  const seen = new Map<string, Planned>()
  const add = (lines: string): void => {
    const logged = Option.getOrUndefined(decode(lines))
    if (logged === undefined) return
    const one = planned(logged["Query Text"], logged.Plan)
    seen.set(JSON.stringify(one), one)
  }
  return {
    onLog: (piece: string): void => {
      const lines = (rest + piece).split("\n")
      rest = lines.pop() ?? ""
      // What belongs to a line of the log is indented; a plan that is not whole waits.
      const starts = lines.flatMap((line, index) => (line.startsWith("\t") ? [] : [index]))
      const last = starts.at(-1) ?? 0
      for (const [nth, start] of starts.entries()) {
        const end = starts[nth + 1]
        if (end !== undefined && lines[start]?.endsWith("plan:") === true) {
          add(lines.slice(start + 1, end).join("\n"))
        }
      }
      rest = `${lines.slice(last).join("\n")}\n${rest}`
    },
    statements: (): ReadonlyArray<Planned> => [...seen.values()]
  }
}
