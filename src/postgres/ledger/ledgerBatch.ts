/** Executes a batch of movements by one call of `move_funds`, and decodes the outcomes. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SpentBudget } from "../../domain/money/budgets.ts"
import { type HoldOutcome, HoldResult } from "../../services/ledgerAnswers.ts"
import { HoldHistory } from "../../services/TaskHistory.ts"
import { decodeRows } from "../client/rows.ts"
import {
  type Close,
  columnNames,
  columnsOf,
  type Movements,
  type NewHold
} from "./ledgerColumns.ts"

export type Movement = Close | NewHold

const CloseResult = Schema.Literals(["won", "closed", "stale", "unknown"])

const list = <S extends Schema.Top>(item: S) => Schema.NullOr(Schema.Array(item))
const amounts = list(Schema.NullOr(Schema.BigInt))

const Outcomes = Schema.Struct({
  close_outcomes: list(CloseResult),
  close_states: list(Schema.NullOr(HoldHistory.fields.state)),
  close_captured: amounts,
  close_overage: amounts,
  hold_outcomes: list(HoldResult),
  hold_refusals: list(Schema.NullOr(SpentBudget)),
  hold_available: amounts
})

/** The outcome of one movement, with the amounts that it is about. */
export type MovementOutcome =
  | {
      readonly _tag: "Close"
      readonly outcome: typeof CloseResult.Type
      readonly state: HoldHistory["state"] | null
      readonly captured: bigint
      readonly overage: bigint
    }
  | ({ readonly _tag: "Hold" } & HoldOutcome)

const decodeOutcomes = decodeRows(Outcomes)

/** The text of the statement is constant, so that a connection prepares it once. */
const moveFunds = `SELECT * FROM move_funds(p_time_zone => $1, ${columnNames
  .map((name, index) => `${name} => $${index + 2}`)
  .join(", ")})`

/** The value's position, from 1; a new value comes last. */
const positionIn = (positions: Map<string, number>, value: string): number => {
  const position = positions.get(value) ?? positions.size + 1
  positions.set(value, position)
  return position
}

/** Groups movements by kind, and notes the position of each in its group. */
const groupByKind = (movements: ReadonlyArray<Movement>) => {
  const organizations = new Map<string, number>()
  const holdPositions = new Map<string, number>()
  const closes: Array<Movements["closes"][number]> = []
  const holds: Array<Movements["holds"][number]> = []
  const places = movements.map((movement) => {
    const place = positionIn(organizations, movement.request.organizationId)
    if (movement._tag !== "Hold") return closes.push({ ...movement, place }) - 1
    // A hold that is in the batch twice is sent once.
    const index = positionIn(holdPositions, `${place} ${movement.request.id}`) - 1
    if (index < holds.length) return index
    holds.push({ ...movement, place })
    return index
  })
  return { places, groups: { organizations: [...organizations.keys()], closes, holds } }
}

const outcomeAt = <A>(answers: ReadonlyArray<A> | null, place: number): A => {
  const answer = answers?.[place]
  if (answer === undefined) throw new Error("move_funds left a movement out")
  return answer
}

/** Executes movements of any organisations in one transaction; answers in their order. */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  movements: ReadonlyArray<Movement>
) {
  const { places, groups } = groupByKind(movements)
  const [row] = yield* decodeOutcomes(sql.unsafe(moveFunds, [timeZone, ...columnsOf(groups)]))
  if (row === undefined) return []
  return movements.map(({ _tag }, index): MovementOutcome => {
    const place = places[index] ?? -1
    if (_tag !== "Hold") {
      return {
        _tag: "Close",
        outcome: outcomeAt(row.close_outcomes, place),
        state: outcomeAt(row.close_states, place),
        captured: row.close_captured?.[place] ?? 0n,
        overage: row.close_overage?.[place] ?? 0n
      }
    }
    return {
      _tag,
      outcome: outcomeAt(row.hold_outcomes, place),
      available: row.hold_available?.[place] ?? 0n,
      budget: row.hold_refusals?.[place] ?? null
    }
  })
})
