/** What every store of responses must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { responseIdOf } from "../../src/domain/responses/responseIds.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import {
  MAX_CONVERSATION,
  type NewResponse,
  StoredResponses
} from "../../src/services/results/StoredResponses.ts"
import { jobId, organization, type Stores, usageOf } from "../support/ledger.ts"

/** An organisation, and how it orders responses: each with a hold, its row, and then its charge. */
const customer = Effect.gen(function* () {
  const ledger = yield* Ledger
  const stored = yield* StoredResponses
  const { organizationId, hold, close } = yield* organization(1000n)

  const add = Effect.fnUntraced(function* (more: Partial<NewResponse> = {}) {
    const order = hold(1n, { id: jobId("tx") })
    yield* ledger.hold(order)
    const id = responseIdOf(order.id)
    const response: NewResponse = {
      organizationId,
      orderId: order.id,
      id,
      previousId: null,
      response: { id, output: [{ type: "message", text: "an answer" }] },
      input: [{ role: "user", content: "a question" }],
      itemIds: [],
      lifetimeSeconds: 3600,
      ...more
    }
    yield* stored.add(response)
    return response
  })
  const charge = ({ orderId }: NewResponse) =>
    ledger.capture({
      ...close(orderId),
      by: "text",
      chargeNano: 1n,
      usage: usageOf(1n),
      orphan: null
    })
  const addCharged = (more?: Partial<NewResponse>) => Effect.tap(add(more), charge)
  return { organizationId, add, charge, addCharged, release: close }
})

export const storedResponsesSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("a response is found by its organisation when its order is charged", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const one = yield* customer
      const other = yield* customer
      const added = yield* one.add({ itemIds: ["msg_a"] })
      const { organizationId } = one
      assert.isNull(yield* stored.find(organizationId, added.id))
      assert.isNull(yield* stored.conversation(organizationId, added.id))
      assert.deepStrictEqual(yield* stored.withItems(organizationId, ["msg_a"]), [])
      assert.isFalse(yield* stored.remove(organizationId, added.id))

      yield* one.charge(added)
      const { id, previousId, response, input } = added
      const content = { id, previousId, response, input }
      assert.deepInclude(yield* stored.find(organizationId, id), content)
      const [first] = (yield* stored.conversation(organizationId, id)) ?? []
      assert.strictEqual(first?.id, id)
      assert.isAbove(first?.bytes ?? 0, JSON.stringify({ response, input }).length - 1)
      const [loaded, ...others] = yield* stored.load(organizationId, [id, "resp_none"])
      assert.deepInclude(loaded, content)
      assert.deepStrictEqual(others, [])
      assert.lengthOf(yield* stored.withItems(organizationId, ["msg_a"]), 1)

      assert.isNull(yield* stored.find(other.organizationId, id))
      assert.isNull(yield* stored.conversation(other.organizationId, id))
      assert.deepStrictEqual(yield* stored.withItems(other.organizationId, ["msg_a"]), [])
      assert.deepStrictEqual(yield* stored.load(other.organizationId, [id]), [])
      assert.isFalse(yield* stored.remove(other.organizationId, id))
      assert.isNotNull(yield* stored.find(organizationId, id))
    })
  )

  it.effect("a response whose order gets its hold back is never found", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const ledger = yield* Ledger
      const { organizationId, add, release } = yield* customer
      const { id, orderId } = yield* add()
      yield* ledger.release({ ...release(orderId), orphan: null, forgetKey: false })
      assert.isNull(yield* stored.find(organizationId, id))
    })
  )

  it.effect("the first row of an id stays", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const { organizationId, addCharged } = yield* customer
      const added = yield* addCharged()
      yield* stored.add({ ...added, response: { id: "other" } })
      assert.deepInclude(yield* stored.find(organizationId, added.id), { response: added.response })
    })
  )

  it.effect("a conversation is read from its first response on, and ends where one is gone", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const { organizationId, addCharged } = yield* customer
      const first = yield* addCharged()
      const second = yield* addCharged({ previousId: first.id })
      const third = yield* addCharged({ previousId: second.id })
      const branch = yield* addCharged({ previousId: first.id })
      const ids = (id: string) =>
        Effect.map(
          stored.conversation(organizationId, id),
          (responses) => responses?.map((response) => response.id) ?? null
        )
      assert.deepStrictEqual(yield* ids(third.id), [first.id, second.id, third.id])
      assert.deepStrictEqual(yield* ids(branch.id), [first.id, branch.id])
      assert.deepStrictEqual(yield* ids(first.id), [first.id])
      assert.isNull(yield* ids("resp_none"))
      assert.isTrue(yield* stored.remove(organizationId, second.id))
      assert.isFalse(yield* stored.remove(organizationId, second.id))
      assert.isNull(yield* ids(third.id))
      assert.isNotNull(yield* stored.find(organizationId, third.id))
      assert.deepStrictEqual(yield* ids(branch.id), [first.id, branch.id])
    })
  )

  it.effect("a conversation beyond the limit of bytes is not read", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const { organizationId, addCharged } = yield* customer
      const input = [{ role: "user", content: "x".repeat(MAX_CONVERSATION.bytes * 0.4) }] as const
      const first = yield* addCharged({ input })
      const second = yield* addCharged({ input, previousId: first.id })
      const third = yield* addCharged({ input, previousId: second.id })
      const ids = (id: string) =>
        Effect.map(
          stored.conversation(organizationId, id),
          (sizes) => sizes?.map((size) => size.id) ?? null
        )
      assert.deepStrictEqual(yield* ids(second.id), [first.id, second.id])
      assert.isNull(yield* ids(third.id))
    })
  )

  it.effect("responses are loaded in the order of their ids", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const { organizationId, addCharged } = yield* customer
      const one = yield* addCharged()
      const two = yield* addCharged()
      const ids = [two.id, one.id]
      const responses = yield* stored.load(organizationId, ids)
      assert.deepStrictEqual(
        responses.map(({ id }) => id),
        ids
      )
    })
  )

  it.effect("of each item the newest response is found, the newest first", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const { organizationId, addCharged } = yield* customer
      const one = yield* addCharged({ itemIds: ["msg_1", "msg_2"] })
      const two = yield* addCharged({ itemIds: ["msg_2", "msg_3"] })
      const ids = (...items: ReadonlyArray<string>) =>
        Effect.map(stored.withItems(organizationId, items), (all) => all.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids("msg_2"), [two.id])
      assert.deepStrictEqual(yield* ids("msg_1", "msg_3"), [two.id, one.id])
      assert.deepStrictEqual(yield* ids("msg_2", "msg_3"), [two.id])
      assert.deepStrictEqual(yield* ids("msg_3"), [two.id])
      assert.deepStrictEqual(yield* ids("msg_4"), [])
    })
  )

  it.effect("an expired response is gone, and with it what continued it", () =>
    Effect.gen(function* () {
      const stored = yield* StoredResponses
      const { organizationId, addCharged } = yield* customer
      const expired = yield* addCharged({ lifetimeSeconds: 0, itemIds: ["msg_x"] })
      const later = yield* addCharged({ previousId: expired.id })
      assert.isNull(yield* stored.find(organizationId, expired.id))
      assert.deepStrictEqual(yield* stored.withItems(organizationId, ["msg_x"]), [])
      assert.isNull(yield* stored.conversation(organizationId, later.id))
      assert.isFalse(yield* stored.remove(organizationId, expired.id))
      yield* stored.removeExpired
      assert.isNotNull(yield* stored.find(organizationId, later.id))
      // The id is free again: nothing of the expired row is left.
      yield* stored.add({ ...expired, lifetimeSeconds: 3600 })
      assert.isNotNull(yield* stored.find(organizationId, expired.id))
    })
  )
}
