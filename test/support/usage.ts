/** The charges of a customer, as its own key lists them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { bodyAs, type Customer, Gateway } from "./gateway.ts"

/** All charges, the newest first. */
export const usageOf = Effect.fnUntraced(function* ({ key }: Customer) {
  const gateway = yield* Gateway
  const usage = yield* gateway.call("/v1/usage", { key })
  return (yield* bodyAs(list(UsageEntry), usage)).data
})

/** The newest charge. */
export const latestUsage = (who: Customer) =>
  Effect.map(usageOf(who), ([first]) => first ?? assert.fail("no usage"))
