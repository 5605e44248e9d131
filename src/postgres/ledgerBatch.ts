/** What becomes of the movements of a batch, and the one call that makes it so. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type Close, columnNames, columnsOf, type NewHold } from "./ledgerColumns.ts"
import { decodeRows } from "./rows.ts"

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
  available: Schema.NullOr(Schema.BigInt),
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
  | {
      readonly _tag: "Hold"
      readonly outcome:
        | "held"
        | "known"
        | "key_used"
        | "stopped"
        | "unknown_member"
        | "member_cap_exceeded"
        | "insufficient_balance"
      readonly available: bigint
      readonly cap: bigint
      readonly used: bigint
      readonly capEndsAt: Date
    }

const decodeOutcomes = decodeRows(Outcomes)

/** Its text never changes, so that a connection prepares it once. */
const moveMoney = `SELECT * FROM move_money(p_organization => $1, p_time_zone => $2, ${columnNames
  .map((name, index) => `${name} => $${index + 3}`)
  .join(", ")})`

/** One call, one commit, for movements of one organisation; answers in their order. */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  organizationId: string,
  movements: ReadonlyArray<Movement>
) {
  const closes: Array<Close> = []
  const holds: Array<NewHold> = []
  const held = new Map<string, number>()
  const places = movements.map((movement) => {
    if (movement._tag !== "Hold") return closes.push(movement) - 1
    const known = held.get(movement.request.id)
    if (known !== undefined) return known
    const place = holds.push(movement) - 1
    held.set(movement.request.id, place)
    return place
  })
  const [row] = yield* decodeOutcomes(
    sql.unsafe(moveMoney, [organizationId, timeZone, ...columnsOf(closes, holds)])
  )
  return movements.flatMap((movement, index): ReadonlyArray<Moved> => {
    const place = places[index] ?? -1
    if (movement._tag === "Hold") {
      const outcome = row?.hold_outcomes?.[place]
      return row === undefined || outcome === undefined
        ? []
        : [
            {
              _tag: "Hold",
              outcome,
              available: row.available ?? 0n,
              cap: row.hold_caps?.[place] ?? 0n,
              used: row.hold_used?.[place] ?? 0n,
              capEndsAt: row.cap_ends_at
            }
          ]
    }
    const outcome = row?.close_outcomes?.[place]
    return outcome === undefined
      ? []
      : [
          {
            _tag: "Close",
            outcome,
            state: row?.close_states?.[place] ?? null,
            captured: row?.close_captured?.[place] ?? 0n,
            overage: row?.close_overage?.[place] ?? 0n
          }
        ]
  })
})
