/** What several parts of the finance desk do. */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { type Account, demand, type End, lineOf, note, type Till, type Unclear } from "./till.ts"

export type Part = (till: Till) => Effect.Effect<void, Unclear, HttpClient.HttpClient>

export interface Adjustment {
  readonly kind: "credit" | "withdrawal" | "correction"
  readonly amount: bigint
  readonly reference: string
  readonly reason?: string
  readonly usage_id?: string
}

/** Makes an adjustment. A first one may be a repeat of a request whose answer was lost. */
export const adjust = Effect.fnUntraced(function* (
  till: Till,
  { organizationId }: Account,
  what: string,
  { amount, reason = "by the desk", ...rest }: Adjustment,
  expected: string
) {
  const answer = yield* demand(till, `/organizations/${organizationId}/adjustments`, {
    json: { ...rest, reason, amount: formatNano(amount) }
  })
  const fields = expected.includes("applied")
    ? (["applied", "balance"] as const)
    : (["balance"] as const)
  note(till, "F1", what, expected, lineOf(answer, fields))
})

export const done = (balance: bigint) => `done balance=${formatNano(balance)}`
export const again = (balance: bigint) => `done applied=false balance=${formatNano(balance)}`

export const takenOf = (ends: ReadonlyArray<End>): number =>
  ends.filter(({ _tag }) => _tag === "Taken").length

export const expectRefusals = (
  till: Till,
  rule: "F3" | "F4" | "F6",
  what: string,
  ends: ReadonlyArray<End>,
  expected: string
) => {
  for (const end of ends) {
    if (end._tag === "Refused") note(till, rule, what, expected, end.line)
  }
}

/** The scopes and the periods of budgets, the narrowest first. */
export const scopes = ["key", "member", "organization"] as const
export const periods = ["day", "month", "total"] as const
