/** The outcomes of a batch of movements, and the one call that writes the batch. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SpentBudget } from "../../domain/money/budgets.ts"
import { type HoldOutcome, HoldResult } from "../../services/ledgerAnswers.ts"
import { HoldHistory } from "../../services/TaskHistory.ts"
import { decodeRows } from "../client/rows.ts"
import { type Close, moveFunds, type NewHold, parametersOf } from "./ledgerColumns.ts"

export type Movement = Close | NewHold

const CloseResult = Schema.Literals(["won", "closed", "stale", "unknown"])

const list = <S extends Schema.Top>(item: S) => Schema.NullOr(Schema.Array(item))
const amounts = list(Schema.NullOr(Schema.BigInt))

const Outcomes = Schema.Struct({
  close_outcomes: list(CloseResult),
  close_states: list(Schema.NullOr(HoldHistory.fields.state)),
  close_charges: amounts,
  close_overages: amounts,
  hold_outcomes: list(HoldResult),
  hold_refusals: list(Schema.NullOr(SpentBudget)),
  hold_available: amounts
})

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

/**
 * The arguments of `move_funds`, and the position of each movement among the closes or among the
 * holds.
 */
const arrange = (movements: ReadonlyArray<Movement>) => {
  const closes: Array<Close> = []
  const holds: Array<NewHold> = []
  const heldAt = new Map<string, number>()
  const positions = movements.map((movement) => {
    if (movement._tag !== "Hold") return closes.push(movement) - 1
    // Two movements with the same hold are sent as one hold.
    const { organizationId, id } = movement.request
    const name = `${organizationId} ${id}`
    const position = heldAt.get(name) ?? holds.push(movement) - 1
    heldAt.set(name, position)
    return position
  })
  return { positions, closes, holds }
}

const answerAt = <A>(answers: ReadonlyArray<A> | null, position: number): A => {
  const answer = answers?.[position]
  if (answer === undefined) throw new Error("move_funds left a movement out")
  return answer
}

/**
 * Writes movements of any organisations, or of one if there is a route, in one call and one commit;
 * returns the outcomes in the same order.
 */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  movements: ReadonlyArray<Movement>,
  route: string | null = null
) {
  const { positions, closes, holds } = arrange(movements)
  const [row] = yield* decodeOutcomes(
    sql.unsafe(moveFunds, parametersOf(timeZone, route, closes, holds))
  )
  if (row === undefined) return []
  return movements.map(({ _tag }, index): MovementOutcome => {
    const position = positions[index] ?? -1
    if (_tag !== "Hold") {
      return {
        _tag: "Close",
        outcome: answerAt(row.close_outcomes, position),
        state: answerAt(row.close_states, position),
        captured: row.close_charges?.[position] ?? 0n,
        overage: row.close_overages?.[position] ?? 0n
      }
    }
    return {
      _tag,
      outcome: answerAt(row.hold_outcomes, position),
      available: row.hold_available?.[position] ?? 0n,
      budget: row.hold_refusals?.[position] ?? null
    }
  })
})
