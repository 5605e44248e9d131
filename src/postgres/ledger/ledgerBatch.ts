/** What becomes of the movements of a batch, and the one call that makes it so. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { HoldOutcome } from "../../services/ledgerAnswers.ts"
import { decodeRows } from "../client/rows.ts"
import { type Close, columnNames, columnsOf, type NewHold, type Placed } from "./ledgerColumns.ts"

export type Movement = Close | NewHold

const list = <S extends Schema.Top>(item: S) => Schema.NullOr(Schema.Array(item))
const amounts = list(Schema.NullOr(Schema.BigInt))

const Outcomes = Schema.Struct({
  close_outcomes: list(Schema.Literals(["won", "closed", "stale", "unknown"])),
  close_states: list(Schema.NullOr(Schema.Literals(["open", "captured", "released"]))),
  close_captured: amounts,
  close_overage: amounts,
  hold_outcomes: list(
    Schema.Literals([
      "held",
      "known",
      "key_used",
      "stopped",
      "unknown_member",
      "member_cap_exceeded",
      "insufficient_balance"
    ])
  ),
  hold_caps: amounts,
  hold_used: amounts,
  available: amounts,
  cap_ends_at: Schema.Date
})

/** What became of one movement; the amounts are those the outcome is about. */
export type Moved =
  | {
      readonly _tag: "Close"
      readonly outcome: "won" | "closed" | "stale" | "unknown"
      readonly state: "open" | "captured" | "released" | null
      readonly captured: bigint
      readonly overage: bigint
    }
  | ({ readonly _tag: "Hold" } & HoldOutcome)

const decodeOutcomes = decodeRows(Outcomes)

/** Its text never changes, so that a connection prepares it once. */
const moveFunds = `SELECT * FROM move_funds(p_time_zone => $1, ${columnNames
  .map((name, index) => `${name} => $${index + 2}`)
  .join(", ")})`

/** The value's position, from 1; a new value comes last. */
const positionIn = (positions: Map<string, number>, value: string): number => {
  const known = positions.get(value) ?? positions.size + 1
  positions.set(value, known)
  return known
}

/** The movements as the function takes them, and where each went among those of its kind. */
const arranged = (movements: ReadonlyArray<Movement>) => {
  const organizations = new Map<string, number>()
  const members = new Map<string, number>()
  const held = new Map<string, number>()
  const closes: Array<Placed<Close>> = []
  const holds: Array<Placed<NewHold> & { readonly spender: number }> = []
  const spenders: Array<Placed<string>> = []
  const places = movements.map((movement) => {
    const place = positionIn(organizations, movement.request.organizationId)
    if (movement._tag !== "Hold") return closes.push({ place, item: movement }) - 1
    const { id, memberId } = movement.request
    // A hold that comes twice goes once.
    const index = positionIn(held, `${place} ${id}`) - 1
    if (index < holds.length) return index
    const spender = positionIn(members, `${place} ${memberId}`)
    if (spender > spenders.length) spenders.push({ place, item: memberId })
    holds.push({ place, item: movement, spender })
    return index
  })
  return { places, moved: { organizations: [...organizations.keys()], closes, holds, spenders } }
}

/** One call, one commit, for movements of any organisations; answers in their order. */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  movements: ReadonlyArray<Movement>
) {
  const { places, moved } = arranged(movements)
  const [row] = yield* decodeOutcomes(sql.unsafe(moveFunds, [timeZone, ...columnsOf(moved)]))
  if (row === undefined) return []
  return movements.flatMap(({ _tag }, index): ReadonlyArray<Moved> => {
    const place = places[index] ?? -1
    if (_tag === "Hold") {
      const outcome = row.hold_outcomes?.[place]
      const organization = moved.holds[place]?.place ?? 0
      return outcome === undefined
        ? []
        : [
            {
              _tag,
              outcome,
              available: row.available?.[organization - 1] ?? 0n,
              cap: row.hold_caps?.[place] ?? 0n,
              used: row.hold_used?.[place] ?? 0n,
              capEndsAt: row.cap_ends_at
            }
          ]
    }
    const outcome = row.close_outcomes?.[place]
    return outcome === undefined
      ? []
      : [
          {
            _tag: "Close",
            outcome,
            state: row.close_states?.[place] ?? null,
            captured: row.close_captured?.[place] ?? 0n,
            overage: row.close_overage?.[place] ?? 0n
          }
        ]
  })
})
