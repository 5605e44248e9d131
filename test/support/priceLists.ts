/** Price lists as operators write them, on a gateway over HTTP. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyAs, type Customer, Gateway } from "./gateway.ts"

const Created = Schema.Struct({ id: Schema.String })

/** Creates a list, and returns its id. */
export const createPriceList = Effect.fnUntraced(function* (json: object) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin("/price-lists", { json })
  assert.strictEqual(answer.status, 200, answer.text)
  return (yield* bodyAs(Created, answer)).id
})

/** Puts the customer's organisation on a list, or on none. */
export const putOnList = Effect.fnUntraced(function* (
  { organizationId }: Customer,
  list: string | null
) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin(`/organizations/${organizationId}`, {
    method: "PATCH",
    json: { price_list: list }
  })
  assert.strictEqual(answer.status, 200, answer.text)
  assert.deepInclude(answer.body, { price_list: list })
})
