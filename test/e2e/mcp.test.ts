/**
 * The money of orders over the Model Context Protocol: agents that share a budget cannot overspend
 * it, and without an archive the files come with the answer.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { askMcp } from "../support/mcp.ts"
import { speechCatalog } from "../support/speechCatalog.ts"

const BUDGET = "10"

const Result = Schema.Struct({
  isError: Schema.optionalKey(Schema.Boolean),
  content: Schema.Array(
    Schema.Struct({ type: Schema.String, mimeType: Schema.optionalKey(Schema.String) })
  ),
  structuredContent: Schema.Struct({
    id: Schema.optionalKey(Schema.String),
    task_status: Schema.optionalKey(Schema.String),
    files: Schema.optionalKey(Schema.Array(Schema.Struct({ embedded: Schema.Boolean }))),
    error: Schema.optionalKey(Schema.Struct({ code: Schema.String }))
  })
})

const tool = Effect.fnUntraced(function* (
  { key }: Pick<Customer, "key">,
  name: string,
  args: object
) {
  const { url } = yield* Gateway
  const { result } = yield* askMcp({ url, key }, "tools/call", { name, arguments: args })
  return yield* Effect.orDie(Schema.decodeUnknownEffect(Result)(result))
})

const Key = Schema.Struct({ id: Schema.String, key: Schema.String })
const Spent = Schema.Struct({
  data: Schema.Array(Schema.Struct({ used: Schema.String, held: Schema.String }))
})

/** A key of the customer with a budget of its own for all of time. */
const budgetedKey = Effect.fnUntraced(function* ({ organizationId, memberId }: Customer) {
  const gateway = yield* Gateway
  const created = yield* gateway.admin(`/members/${memberId}/keys`, { json: { name: "agent" } })
  const { id, key } = yield* bodyAs(Key, created)
  const path = `/organizations/${organizationId}/budgets`
  const budget = { scope: "key", subject_id: id, period: "total", amount: BUDGET }
  const made = yield* gateway.admin(path, { json: budget })
  assert.strictEqual(made.status, 200, made.text)
  const spent = Effect.flatMap(gateway.admin(`${path}?subject_id=${id}`), (answer) =>
    bodyAs(Spent, answer)
  )
  return { key, spent }
})

const Quote = Schema.Struct({
  result: Schema.Struct({ structuredContent: Schema.Struct({ expires_at: Schema.String }) })
})

layer(
  layerTestGateway(
    "postgres",
    { ...quickSettings, idempotencySeconds: 60 },
    { catalogFor: speechCatalog }
  ),
  {
    excludeTestServices: true,
    timeout: "60 seconds"
  }
)("quotes where idempotency keys are stored for a minute", (it) => {
  it.effect("a quote expires before the key of its order is free", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1")
      const args = { model: "paint-1", prompt: "a lighthouse" }
      const answer = yield* askMcp({ url: gateway.url, key }, "tools/call", {
        name: "get_quote",
        arguments: args
      })
      const { result } = yield* Effect.orDie(Schema.decodeUnknownEffect(Quote)(answer))
      const { expires_at } = result.structuredContent
      assert.isAtMost(Date.parse(expires_at), Date.now() + 60_000)
    })
  )
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, undefined, { catalogFor: speechCatalog }), {
    excludeTestServices: true,
    timeout: "120 seconds"
  })(`money of agents (${kind})`, (it) => {
    it.effect.each([
      // 50 images at 0.2, and 3 videos of 5 seconds at 0.6: what fits into the budget.
      ["order_images", { model: "paint-1", prompt: "a lighthouse", max_cost: "0.2" }, 50, "10"],
      ["order_video", { model: "clip-1", prompt: "a lighthouse", max_cost: "3" }, 3, "9"]
    ] as const)(
      "200 calls of %s at a time spend exactly what fits into the budget of their key",
      ([name, args, fitting, total]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { key, spent } = yield* budgetedKey(yield* gateway.customer("1000"))
          const results = yield* Effect.forEach(
            Array.from({ length: 200 }),
            () => tool({ key }, name, args),
            { concurrency: "unbounded" }
          )
          const placed = results.filter(({ isError }) => isError !== true)
          const refused = results.filter(({ isError }) => isError === true)
          assert.lengthOf(placed, fitting)
          assert.deepStrictEqual(
            [...new Set(refused.map(({ structuredContent }) => structuredContent.error?.code))],
            ["budget_exceeded"]
          )
          for (const { structuredContent } of placed) {
            const { id, task_status: status } = structuredContent
            if (status !== "processing") continue
            const ended = yield* tool({ key }, "get_order", { id, wait: 60 })
            assert.strictEqual(ended.structuredContent.task_status, "succeeded")
          }
          assert.deepStrictEqual((yield* spent).data, [{ used: total, held: "0" }])
          yield* gateway.verify
        })
    )

    it.effect("without an archive, files are in the answer as the vendor sent them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const picture = { model: "paint-1", prompt: "a lighthouse", max_cost: "0.2" }
        const linked = yield* tool(who, "order_images", picture)
        assert.deepStrictEqual(
          linked.content.map(({ type }) => type),
          ["text", "resource_link"]
        )
        const embedded = yield* tool(who, "order_images", { ...picture, embed: true })
        assert.deepStrictEqual(
          embedded.content.map(({ type }) => type),
          ["text", "image"]
        )
        assert.deepStrictEqual(embedded.structuredContent.files, [{ embedded: true }])
        const spoken = yield* tool(who, "order_speech", {
          model: "voice-1",
          input: "The harbour is calm.",
          max_cost: "0.1",
          call_id: "harbour"
        })
        assert.deepStrictEqual(
          spoken.content.map(({ type, mimeType }) => [type, mimeType]),
          [
            ["text", undefined],
            ["audio", "audio/mpeg"]
          ]
        )
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.598", held: "0" })
        yield* gateway.verify
      })
    )
  })
}
