/** The monthly cap of a member, which is a budget that refuses with its own error code. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { usualThresholds } from "../../domain/money/budgets.ts"
import { Settings } from "../../runtime/Settings.ts"
import { budgetPrefix } from "../../services/money/Budgets.ts"

/** Sets a member's monthly cap; null removes it. Runs in the caller's transaction. */
export const makeSetCap = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const { timeZone } = yield* Settings
  return Effect.fnUntraced(function* (
    organizationId: string,
    memberId: string,
    capNano: bigint | null
  ) {
    const id = budgetPrefix + (yield* random.uuidV7())
    yield* sql`
      SELECT set_cap(${timeZone}, ${organizationId}, ${memberId}, ${capNano}::bigint, ${id},
                     ${[...usualThresholds]}::int[])`
  })
})
