/**
 * The finance desk: it keeps books of its own about accounts on which nobody else acts, so that it
 * knows every answer beforehand, also while gateways are killed. It comes to an end by itself.
 */
import { Effect, Random } from "effect"
import type { HttpClient } from "effect/http"
import type { Operator } from "./customers.ts"
import { isNearMidnight } from "./finance/budgets.ts"
import { midnightPart, parts } from "./finance/parts.ts"
import type { Till } from "./finance/till.ts"
import { count, type Witness } from "./witness.ts"

/** The number of the parts of its work that it does, beside that of a midnight. */
const PARTS = 4
/** The time after which a part is given up. */
const PATIENCE = "60 seconds"

/** Does some parts of the work. What was noted until a part was given up still counts. */
export const runFinance = Effect.fnUntraced(function* (
  witness: Witness,
  anyGateway: Effect.Effect<Operator>,
  name: string
): Effect.fn.Return<void, never, HttpClient.HttpClient> {
  const run = ([title, part]: (typeof parts)[number]) => {
    const till: Till = { witness, anyGateway, name: `${name} ${title}`, orderCount: 0, notes: [] }
    const keep = Effect.sync(() => {
      witness.finance.push(...till.notes)
    })
    return part(till).pipe(
      Effect.timeout(PATIENCE),
      Effect.tap(() => Effect.sync(() => count(witness, "finance parts done"))),
      Effect.catchTag(["Unclear", "TimeoutError"], () =>
        Effect.sync(() => count(witness, "finance parts given up"))
      ),
      Effect.ensuring(keep)
    )
  }
  if (yield* isNearMidnight) yield* run(midnightPart)
  const drawn = yield* Random.shuffle(parts)
  yield* Effect.forEach(drawn.slice(0, PARTS), run, { concurrency: 2, discard: true })
})
