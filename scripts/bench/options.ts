/** The command-line options of the benchmark. */
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type SubjectKind, subjectKinds } from "./subjects/subject.ts"

export interface BenchOptions {
  readonly rounds: number
  /** The length of one measured window. */
  readonly seconds: number
  /** The number of requests to each process before the first round of a case. */
  readonly warmUpRequests: number
  /** The names of the cases to run; null runs all. */
  readonly cases: ReadonlySet<string> | null
  readonly subjects: ReadonlySet<SubjectKind>
  readonly growth: { readonly tasks: number; readonly ledgerRows: number } | null
  /** The number of open tasks in the case `lag`. */
  readonly openTasks: number
  /** A revision of this repository that is measured too; null measures only the working tree. */
  readonly compare: string | null
  readonly json: string | null
  /** The directory for CPU profiles; null writes none. */
  readonly profile: string | null
  /** The directory in which the peers are installed. */
  readonly scratch: string
  /** The URL of an existing PostgreSQL server; null starts one. */
  readonly database: string | null
  readonly pinned: boolean
}

const usage = `npm run bench -- [options]
  --rounds N          interleaved rounds (5)
  --seconds S         measured window of a case (3)
  --warm-up-requests N  to a process before the first round of a case (50000)
  --cases a,b,c       only these cases
  --subjects a,b      of ${subjectKinds.join(", ")} (all)
  --only-ours         the same as --subjects ours
  --growth            every case on an empty and on a full database as well
  --growth-tasks N    video tasks of the full one (1000000)
  --growth-rows N     orders of its ledger (10000000)
  --open-tasks N      tasks that are open at once in the case lag (10000)
  --compare REV       measures our gateway at that revision as well, in the same rounds
  --json FILE         writes every window of every round
  --profile DIR       leaves a CPU profile of our gateway, for npm run bench:profile -- DIR
  --scratch DIR       where the peers are installed
  --database URL      a PostgreSQL server to use instead of starting one
  --unpinned          leaves the processes to the scheduler`

const numberFrom = (name: string, text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} is a number above 0\n\n${usage}`)
  return value
}

const isKind = (name: string): name is (typeof subjectKinds)[number] =>
  subjectKinds.some((kind) => kind === name)

const kindsFrom = (text: string): ReadonlySet<SubjectKind> => {
  const names = text.split(",")
  const kinds = names.filter(isKind)
  if (kinds.length < names.length) {
    throw new Error(`--subjects takes ${subjectKinds.join(", ")}\n\n${usage}`)
  }
  return new Set(kinds)
}

/** Reads the options. Throws an error whose message contains the usage. */
export const readOptions = (args: ReadonlyArray<string>): BenchOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "3" },
      "warm-up-requests": { type: "string", default: "50000" },
      cases: { type: "string" },
      subjects: { type: "string", default: subjectKinds.join(",") },
      "only-ours": { type: "boolean", default: false },
      growth: { type: "boolean", default: false },
      "growth-tasks": { type: "string", default: "1000000" },
      "growth-rows": { type: "string", default: "10000000" },
      "open-tasks": { type: "string", default: "10000" },
      compare: { type: "string" },
      json: { type: "string" },
      profile: { type: "string" },
      scratch: { type: "string", default: join(tmpdir(), "media-gateway-bench") },
      database: { type: "string" },
      unpinned: { type: "boolean", default: false }
    }
  })
  return {
    rounds: numberFrom("rounds", values.rounds),
    seconds: numberFrom("seconds", values.seconds),
    warmUpRequests: numberFrom("warm-up-requests", values["warm-up-requests"]),
    cases: values.cases === undefined ? null : new Set(values.cases.split(",")),
    subjects: values["only-ours"] ? new Set(["ours"]) : kindsFrom(values.subjects),
    growth: values.growth
      ? {
          tasks: numberFrom("growth-tasks", values["growth-tasks"]),
          ledgerRows: numberFrom("growth-rows", values["growth-rows"])
        }
      : null,
    openTasks: numberFrom("open-tasks", values["open-tasks"]),
    compare: values.compare ?? null,
    json: values.json ?? null,
    profile: values.profile ?? null,
    scratch: values.scratch,
    database: values.database ?? null,
    pinned: !values.unpinned
  }
}
