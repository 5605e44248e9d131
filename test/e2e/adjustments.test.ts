/** Adjustments by operators: in the journal, on the receipt, and never an edit. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { JournalEntry } from "../../src/features/catalog/AdminApi.ts"
import { AdjustmentView } from "../../src/features/transfers/MoneyApi.ts"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { list } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"

const Adjusted = Schema.Struct({
  ...AdjustmentView.fields,
  object: Schema.Literal("adjustment"),
  applied: Schema.Boolean,
  balance: Schema.String
})
const Usage = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

const adjust = ({ organizationId }: Customer, json: object) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.admin(`/organizations/${organizationId}/adjustments`, { json })
  )

/** Two images, charged 0.4; answers the id of the usage record. */
const charged = Effect.fnUntraced(function* ({ key }: Customer) {
  const gateway = yield* Gateway
  const json = { model: "paint-1", prompt: "a lighthouse", n: 2 }
  const made = yield* gateway.call("/v1/images/generations", { key, json })
  assert.strictEqual(made.status, 200, made.text)
  const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key }))
  return data[0]?.id ?? ""
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `adjustments (${kind})`,
    (it) => {
      it.effect("a charge is given back, which its receipt and the journal tell", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const usage_id = yield* charged(who)
          const json = {
            kind: "correction" as const,
            amount: "0.15",
            usage_id,
            reason: "one was black",
            reference: "ticket 17"
          }
          const made = yield* bodyAs(Adjusted, yield* adjust(who, json))
          assert.deepInclude(made, { ...json, applied: true, balance: "0.75" })
          assert.strictEqual(made.author, "GATEWAY_ADMIN_TOKEN")
          const again = yield* bodyAs(Adjusted, yield* adjust(who, json))
          assert.deepStrictEqual(again, { ...made, applied: false })

          const receipt = yield* bodyAs(
            ReceiptView,
            yield* gateway.call(`/v1/usage/${usage_id}`, { key: who.key })
          )
          assert.deepInclude(receipt, { charge: "0.4", corrected: "0.15" })
          assert.deepStrictEqual(receipt.corrections, [
            {
              id: made.id,
              amount: "0.15",
              reason: "one was black",
              reference: "ticket 17",
              at: made.created_at
            }
          ])
          const last = receipt.entries.at(-1)
          assert.deepInclude(last, { kind: "correction", debit: "revenue", credit: "pool" })

          const path = `/organizations/${who.organizationId}`
          const journal = yield* bodyAs(list(JournalEntry), yield* gateway.admin(`${path}/ledger`))
          const entry = journal.data.find(({ id }) => id === made.id)
          assert.deepInclude(entry, { kind: "correction", usage_id, reason: "one was black" })
          const listed = yield* bodyAs(
            list(AdjustmentView),
            yield* gateway.admin(`${path}/adjustments`)
          )
          assert.deepStrictEqual(
            listed.data.map(({ id }) => id),
            [made.id]
          )
          const deposits = yield* gateway.admin(`${path}/deposits`)
          assert.notInclude(deposits.text, made.id)
          assert.include(deposits.text, '"amount":"1"')
          assert.deepInclude(yield* gateway.balance(who), { balance: "0.75" })
          yield* gateway.verify
        })
      )

      it.effect("what goes too far or makes no sense is refused by name, and moves nothing", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const usage_id = yield* charged(who)
          const foreign = yield* charged(yield* gateway.customer("1"))
          const good = { kind: "credit", amount: "1", reason: "x", reference: "r" }
          const refused = Effect.fnUntraced(function* (json: object) {
            const answer = yield* adjust(who, { ...good, ...json })
            const { code, param } = yield* errorOf(answer)
            return [answer.status, code, param]
          })
          const correction = { kind: "correction", usage_id }
          assert.deepStrictEqual(
            yield* Effect.forEach(
              [
                { kind: "withdrawal", amount: "0.61" },
                { ...correction, amount: "0.41" },
                { kind: "correction" },
                { usage_id },
                { ...correction, usage_id: "us_im_nothing" },
                { ...correction, usage_id: "nothing" },
                { ...correction, usage_id: foreign },
                { amount: "0" },
                { amount: "-1" },
                { amount: 1 },
                { kind: "gift" },
                { reason: "" },
                { surprise: 1 }
              ],
              refused
            ),
            [
              [402, "insufficient_balance", null],
              [400, "invalid_request", "amount"],
              [400, "invalid_request", "usage_id"],
              [400, "invalid_request", "usage_id"],
              [404, "not_found", null],
              [404, "not_found", null],
              [404, "not_found", null],
              [400, "invalid_request", "amount"],
              [400, "invalid_request", "amount"],
              [400, "invalid_request", "amount"],
              [400, "invalid_request", "kind"],
              [400, "invalid_request", "reason"],
              [400, "invalid_request", "surprise"]
            ]
          )
          const nobody = { ...who, organizationId: "org_nobody" }
          assert.strictEqual((yield* adjust(nobody, good)).status, 404)
          assert.deepInclude(yield* gateway.balance(who), { balance: "0.6" })
          yield* gateway.verify
        })
      )
    }
  )
}
