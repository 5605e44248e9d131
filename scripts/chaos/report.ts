/** Renders the results of a run as text. */
import type { Books } from "./books.ts"
import { type Good, goods } from "./goods.ts"
import type { Verdict } from "./judges/verdict.ts"
import { type ChaosOptions, commandOf } from "./options.ts"
import type { CancelAnswer, Witness } from "./witness.ts"

export interface Report {
  readonly options: ChaosOptions
  readonly verdicts: ReadonlyArray<Verdict>
  readonly violations: ReadonlyArray<string>
  /** Names and values in the order of their display. */
  readonly counts: ReadonlyArray<readonly [name: string, value: number | string]>
  readonly directory: string
}

const SHOWN_VIOLATIONS = 40

const tally = (names: Iterable<string>): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a.localeCompare(b))
}

const chargedOf = ({ usage }: Books, kind: Good["kind"]): number => {
  const models = new Set(goods.flatMap((good) => (good.kind === kind ? [good.model] : [])))
  return usage.filter(({ model }) => models.has(model)).length
}

const saidOf = (answer: CancelAnswer): string => {
  switch (answer._tag) {
    case "Ended":
      return answer.code ?? answer.state
    case "GoesOn":
      return answer.status
    case "Unanswered":
      return answer.code
  }
}

/** The number of requests by outcome, of disasters by kind, and of records in the ledger. */
export const countsOf = (
  witness: Witness,
  books: Books,
  recoveries: ReadonlyArray<number | null>
): Report["counts"] => {
  const measured = recoveries.filter((seconds) => seconds !== null).sort((a, b) => a - b)
  const at = (share: number) => measured[Math.floor((measured.length - 1) * share)]?.toFixed(1)
  return [
    ["orders", witness.orders.size],
    ["requests", witness.attempts.length],
    ...tally(
      witness.attempts.map(({ outcome }) =>
        outcome._tag === "Refused"
          ? `  refused ${outcome.status} ${outcome.code}`
          : outcome._tag === "Accepted" && outcome.replayed
            ? "  accepted, replayed"
            : `  ${outcome._tag.toLowerCase()}`
      )
    ),
    ["polls by clients", witness.sightings.length],
    ...tally(witness.sightings.map(({ status, said }) => `  ${status} ${said}`)),
    ["cancels", witness.cancels.length],
    ...tally(witness.cancels.map(({ answer }) => `  ${saidOf(answer)}`)),
    ...[...witness.counts].sort(([a], [b]) => a.localeCompare(b)),
    ["jobs taken on by vendors", books.jobs.length],
    ["tasks", books.tasks.length],
    ...tally(books.tasks.map(({ state }) => `  ${state}`)),
    [
      "  got no place in time",
      books.tasks.filter(({ error_code }) => error_code === "max_wait_exceeded").length
    ],
    ["images charged", chargedOf(books, "image")],
    ["texts charged", chargedOf(books, "text")],
    ["orphans", books.orphans.length],
    ...tally(books.orphans.map(({ reason }) => `  ${reason}`)),
    ["recoveries of PostgreSQL measured", `${measured.length} of ${recoveries.length}`],
    [
      "  seconds to the first 2xx",
      measured.length === 0 ? "-" : `median ${at(0.5)}, longest ${at(1)}`
    ]
  ]
}

export const renderReport = (report: Report): string => {
  const nameWidth = Math.max(...report.counts.map(([name]) => name.length)) + 2
  const ruleWidth = Math.max(...report.verdicts.map(({ rule }) => rule.length)) + 2
  const failed = report.violations.length > 0
  return [
    ...report.counts.map(([name, value]) => `${name.padEnd(nameWidth)}${value}`),
    "",
    `${"".padEnd(8)}${"rule".padEnd(ruleWidth)}${"checked".padStart(8)}${"violated".padStart(10)}`,
    ...report.verdicts.map(
      ({ id, rule, checked, violations }) =>
        `${id.padEnd(8)}${rule.padEnd(ruleWidth)}${String(checked).padStart(8)}${String(violations.length).padStart(10)}`
    ),
    "",
    ...report.violations.slice(0, SHOWN_VIOLATIONS).map((line) => `VIOLATED ${line}`),
    failed ? `${report.violations.length} violations` : "no violation",
    ...(failed ? [`logs: ${report.directory}`, `again: ${commandOf(report.options)}`] : [])
  ].join("\n")
}
