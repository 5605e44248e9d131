/** Makes a plan that breaks a rule smaller while it still does. */
import { type Plan, partsOf, without } from "./plan.ts"

/** Plays that the search may take. */
const MOST_PLAYS = 60

/** The smallest step by which the end of a world is moved earlier. */
const FINEST_MILLIS = 250

/**
 * The smallest plan that is found: fewer clients, fewer faults and an earlier end. `isBroken` plays
 * a plan; after `MOST_PLAYS` of them, the search ends with what it has.
 */
export const shrink = async (
  plan: Plan,
  isBroken: (plan: Plan) => Promise<boolean>
): Promise<Plan> => {
  let least = plan
  let plays = 0
  const isSmaller = async (candidate: Plan) => {
    plays += 1
    return plays <= MOST_PLAYS && (await isBroken(candidate))
  }
  for (let before: Plan | null = null; before !== least; ) {
    before = least
    for (const name of partsOf(least)) {
      const fewer = without(least, [name])
      if (await isSmaller(fewer)) least = fewer
    }
    for (let step = least.endMillis / 2; step >= FINEST_MILLIS; step /= 2) {
      const earlier = { ...least, endMillis: Math.round(least.endMillis - step) }
      if (await isSmaller(earlier)) least = earlier
    }
  }
  return least
}
