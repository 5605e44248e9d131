/** Runs the simulation on each mutant, with one seed after the other, until a rule is broken. */
import { runIn, withCopy, withMutant } from "./copies.ts"
import type { Mutant } from "./mutant.ts"

/** The number of mutants that run at a time, each in a copy of the tree. */
const PARALLEL = 2

type Verdict =
  | { readonly _tag: "Killed"; readonly seeds: number; readonly rule: string }
  | { readonly _tag: "Alive" }
  /** The simulation failed without a broken rule: the mutant does not start, for example. */
  | { readonly _tag: "Broken"; readonly reason: string }

interface Report {
  readonly name: string
  readonly verdict: Verdict
}

const violation = /^violated at seed \d+ after (\d+) seeds?: (.+)$/m

/** The first line about an error; the last line where there is none. */
const reasonIn = (output: string): string => {
  const lines = output.trimEnd().split("\n")
  return lines.find((line) => /^(\w*Error|npm error)\b|\bERROR\b/.test(line)) ?? lines.at(-1) ?? ""
}

const simulate = async (copy: string, seeds: number): Promise<Verdict> => {
  const options = ["--seeds", String(seeds), "--processes", "1", "--once", "--whole"]
  // Errors of npm itself are printed, also where the mutants run by `npm run --silent`.
  const command = ["run", "--loglevel=error", "simulate", "--", ...options]
  const { succeeded, output } = await runIn(copy, "npm", command)
  if (succeeded) return { _tag: "Alive" }
  const [, count, rule] = violation.exec(output) ?? []
  return count === undefined || rule === undefined
    ? { _tag: "Broken", reason: reasonIn(output) }
    : { _tag: "Killed", seeds: Number(count), rule }
}

const lineOf = ({ name, verdict }: Report): string => {
  switch (verdict._tag) {
    case "Killed":
      return `killed after ${String(verdict.seeds).padStart(4)}  ${name}  (${verdict.rule})`
    case "Alive":
      return `ALIVE              ${name}`
    case "Broken":
      return `BROKEN             ${name}  (${verdict.reason})`
  }
}

/** Runs the mutants in the copies; each copy takes the next one when it has finished its last. */
const runAll = async (
  mutants: ReadonlyArray<Mutant>,
  seeds: number
): Promise<ReadonlyArray<Report>> => {
  const reports: Array<Report> = []
  const waiting = mutants.values()
  const runInTurn = async (copy: string) => {
    for (const mutant of waiting) {
      const verdict = await withMutant(copy, mutant, () => simulate(copy, seeds))
      const report = { name: mutant.name, verdict }
      reports.push(report)
      console.log(`${String(reports.length).padStart(3)}  ${lineOf(report)}`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, () => withCopy(runInTurn)))
  return reports
}

const seedsOf = ({ verdict }: Report): ReadonlyArray<number> =>
  verdict._tag === "Killed" ? [verdict.seeds] : []

/**
 * Prints after how many seeds the simulation detects each mutant; returns whether it detects all.
 * Mutants that the simulation cannot detect do not run.
 */
export const runBySimulation = async (
  mutants: ReadonlyArray<Mutant>,
  seeds: number
): Promise<boolean> => {
  await withCopy(async (copy) => {
    const verdict = await simulate(copy, seeds)
    if (verdict._tag === "Alive") return
    const why = verdict._tag === "Killed" ? verdict.rule : verdict.reason
    throw new Error(`the simulation fails without any mutant: ${why}`)
  })
  for (const { name, needs } of mutants)
    if (needs !== null) console.log(`     needs ${needs}  ${name}`)
  const simulated = mutants.filter(({ needs }) => needs === null)
  const reports = await runAll(simulated, seeds)

  const counts = reports.flatMap(seedsOf).toSorted((one, other) => one - other)
  const namesOf = (tag: Verdict["_tag"]) =>
    reports.flatMap(({ name, verdict }) => (verdict._tag === tag ? [name] : []))
  console.log(`${counts.length} of ${simulated.length} killed by at most ${seeds} seeds`)
  const [median, longest] = [counts[counts.length >> 1], counts.at(-1)]
  if (median !== undefined) console.log(`  in the median after ${median}, at most after ${longest}`)
  for (const tag of ["Alive", "Broken"] as const) {
    const names = namesOf(tag)
    if (names.length > 0) console.log(`  ${names.length} ${tag.toLowerCase()}: ${names.join("; ")}`)
  }
  const left = mutants.length - simulated.length
  if (left > 0) console.log(`  ${left} need what the simulation does not have`)
  return counts.length === simulated.length
}
