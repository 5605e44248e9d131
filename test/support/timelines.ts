/** What a vendor of the test answers, and what the operator is told about it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TimelineView } from "../../src/features/history/HistoryApi.ts"
import { brokenVendor, type Reply } from "./brokenVendor.ts"
import { bodyAs, Gateway, testCatalog } from "./gateway.ts"

/** Has film-1 and paint-1 called at a vendor that answers what the test says. */
export const callAt = Effect.fnUntraced(function* (
  replyTo: (method: string, asked: number) => Reply | Promise<Reply>
) {
  const gateway = yield* Gateway
  let asked = 0
  const vendor = yield* brokenVendor(({ method }) => {
    if (method === "GET") asked += 1
    return replyTo(method, asked)
  })
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-a" || channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
  return vendor
})

export const timelineOf = Effect.fnUntraced(function* (id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin(`/tasks/${id}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(TimelineView, answer)
})

/** The id of the newest order of the organisation, also where no answer told it. */
export const newestHold = Effect.fnUntraced(function* (organizationId: string) {
  const gateway = yield* Gateway
  const { text } = yield* gateway.admin(`/organizations/${organizationId}/ledger`)
  return /"hold_id":"((?:vt|im|tx)_[^"]+)"/.exec(text)?.[1] ?? assert.fail(text)
})

/** What is told about the job; each answer has a request id of its own, as vendors send one. */
export const job = (status: string, more: object = {}) => ({
  body: { id: "job-1", status, request_id: Math.random().toString(36), ...more }
})
