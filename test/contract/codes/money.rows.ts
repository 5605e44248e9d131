/** Orders that the pool or the member's month does not have the money for. */
import { Effect, Schema } from "effect"
import { type Asked, as, chat, embed, image, row, type Said, succeeding, video } from "./Row.ts"
import { Surface } from "./Surface.ts"
import { overCap } from "./waiting.ts"

const poor = (amount: string, asked: Asked) =>
  Effect.flatMap(Surface, ({ customer }) => Effect.map(customer(amount), (who) => as(who, asked)))

const short = (required: string, available: string): Said => ({
  message: `This request needs ${required} CNY, and ${available} is available`,
  more: { required, available }
})

const pool = [
  row("insufficient_balance", "a video", poor("4.967", video()), short("4.968", "4.967")),
  row("insufficient_balance", "images", poor("0.5", image({ n: 3 })), short("0.6", "0.5")),
  row("insufficient_balance", "an empty pool", poor("0", image()), short("0.2", "0")),
  row(
    "insufficient_balance",
    "a chat",
    poor("0.0001", chat({ max_tokens: 100 })),
    short("0.000812", "0.0001")
  ),
  row(
    "insufficient_balance",
    "embeddings",
    poor("0.0000009", embed({ input: "hello" })),
    short("0.000001", "0.0000009")
  ),
  row(
    "insufficient_balance",
    "a pool that another order holds",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("5")
      yield* succeeding(as(who, video()))
      return as(who, image())
    }),
    short("0.2", "0.032")
  )
]

const capped = (cap: string, asked: Asked) =>
  Effect.flatMap(Surface, ({ customer }) =>
    Effect.map(customer("100", { monthlyCap: cap }), (who) => as(who, asked))
  )

const cap = [
  row(
    "member_cap_exceeded",
    "a video above the cap",
    capped("4.967", video()),
    overCap("4.967", "0", "4.968")
  ),
  row(
    "member_cap_exceeded",
    "images above a cap of nothing",
    capped("0", image({ n: 2 })),
    overCap("0", "0", "0.4")
  ),
  row(
    "member_cap_exceeded",
    "a chat above the cap",
    capped("0.0001", chat({ max_tokens: 100 })),
    overCap("0.0001", "0", "0.000812")
  ),
  row(
    "member_cap_exceeded",
    "a cap of which some is charged and some is held",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100", { monthlyCap: "5.2" })
      yield* succeeding(as(who, image()))
      yield* succeeding(as(who, video()))
      return as(who, image())
    }),
    overCap("5.2", "5.168", "0.2")
  )
]

const decodeBudget = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))

/** An order that a new budget for all of time has no room for. */
const budgeted = (when: string, amount: string, asked: Asked, required: string) => {
  let budget = ""
  const scope = "organization"
  return row(
    "budget_exceeded",
    when,
    Effect.gen(function* () {
      const { admin, customer } = yield* Surface
      const who = yield* customer("100")
      const made = yield* admin(`/organizations/${who.organizationId}/budgets`, {
        json: { scope, period: "total", amount }
      })
      budget = decodeBudget(made.body).id
      return as(who, asked)
    }),
    () => ({
      message: `This request needs ${required} CNY; of the organisation's budget of ${amount} in total, 0 is used`,
      more: {
        budget,
        scope,
        period: "total",
        amount,
        used: "0",
        required,
        retry_after: null
      },
      headers: { "x-should-retry": "false" }
    })
  )
}

const budgets = [
  budgeted("a video above a budget", "4.967", video(), "4.968"),
  budgeted("images above a budget", "0.3", image({ n: 2 }), "0.4"),
  budgeted("a chat above a budget", "0.0001", chat({ max_tokens: 100 }), "0.000812"),
  budgeted("embeddings above a budget of nothing", "0", embed({ input: "hello" }), "0.000001")
]

export const moneyRows = [...pool, ...cap, ...budgets]
