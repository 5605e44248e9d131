/** Reads the balance of a caller's pool, and the month of its member. */
import { Effect } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { Ledger } from "../../services/Ledger.ts"
import { formatNanoOrNull, poolView } from "./views.ts"

export const makeReadBalance = Effect.gen(function* () {
  const ledger = yield* Ledger
  const { currency } = yield* Settings
  return Effect.fnUntraced(function* ({ organizationId, memberId }: Caller) {
    // The organisation of a key exists as long as the key does.
    const pool = yield* Effect.orDie(ledger.pool(organizationId))
    const month = yield* ledger.memberMonth(organizationId, memberId)
    return {
      currency,
      ...poolView(pool),
      month: {
        cap: formatNanoOrNull(month.capNano),
        used: formatNano(month.capturedNano),
        held: formatNano(month.heldNano)
      }
    }
  })
})
