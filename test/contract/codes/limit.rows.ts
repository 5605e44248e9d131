/** Requests that come too many at a time, or at a time when nothing can be ordered. */
import { Effect, Schema } from "effect"
import { bodyAs, type CustomerOptions } from "../../support/operator.ts"
import {
  type Asked,
  as,
  asRich,
  chat,
  embed,
  image,
  row,
  type Said,
  succeeding,
  video
} from "./Row.ts"
import { Surface } from "./Surface.ts"
import { keepOpen, minuteUsed, overCap, waiting } from "./waiting.ts"

const again = "send this one again when another is answered"

const rates = [
  row(
    "rate_limited",
    "a key that used up its minute",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100", { key: { requests_per_minute: 1 } })
      yield* succeeding(as(who, { path: "/v1/models" }))
      return as(who, video())
    }),
    minuteUsed
  ),
  row(
    "rate_limited",
    "an organisation with as many requests open as it may have",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100")
      const orders = ["paint-told", "paint-told-2"].map((model) => as(who, image({ model })))
      yield* keepOpen(orders)
      return as(who, { path: "/v1/models" })
    }),
    {
      message: `This organisation may have 2 requests at this gateway at a time; ${again}`,
      ...waiting(1)
    }
  ),
  row(
    "rate_limited",
    "a channel with as many orders as it may have",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      yield* keepOpen([as(yield* customer("100"), image({ model: "paint-told" }))])
      return as(yield* customer("100"), image({ model: "paint-told" }))
    }),
    {
      message: `The channel of this model is busy with as many orders as it may have at a time; ${again}`,
      param: "model",
      ...waiting(1)
    }
  ),
  row(
    "rate_limited",
    "an organisation with as many orders at a channel as it may have",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100")
      yield* keepOpen([as(who, image({ model: "paint-told" }))])
      return as(who, image({ model: "paint-told" }))
    }),
    {
      message: `This organisation has as many orders as it may have at the channel of this model at a time; ${again}`,
      param: "model",
      ...waiting(1)
    }
  )
]

const stopped: Said = {
  message: "New orders of this organisation are stopped while its books are checked",
  ...waiting(60)
}

const whileStopped = (asked: Asked, amount = "100", options: CustomerOptions = {}) =>
  Effect.gen(function* () {
    const { customer, stopSpending } = yield* Surface
    const who = yield* customer(amount, options)
    yield* stopSpending(who.organizationId)
    return as(who, asked)
  })

/** A key that no gateway has seen, so that none has its owner in mind. */
const withoutStore = (asked: Asked) =>
  Effect.flatMap(Surface, ({ customer }) =>
    Effect.map(customer("100"), (who) => ({ ...as(who, asked), withoutStore: true }))
  )

const away: Said = {
  message: "The service cannot reach its database at the moment",
  ...waiting(2)
}

const overloads = [
  row("overloaded", "a video while the books are checked", whileStopped(video()), stopped),
  row("overloaded", "the books' check before pool", whileStopped(video(), "0"), stopped),
  row(
    "member_cap_exceeded",
    "cap before the books' check",
    whileStopped(video(), "100", { monthlyCap: "0" }),
    overCap("0", "0", "4.968")
  ),
  row("overloaded", "images while the books are checked", whileStopped(image()), stopped),
  row("overloaded", "a chat while the books are checked", whileStopped(chat()), stopped),
  row("overloaded", "embeddings while the books are checked", whileStopped(embed()), stopped),
  row(
    "overloaded",
    "an organisation whose bodies take its share of the room",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100")
      yield* keepOpen([as(who, image({ model: "paint-told", prompt: "x".repeat(10_000) }))])
      return as(who, video({ prompt: "x".repeat(5000) }))
    }),
    {
      message:
        "Other requests' bodies take all the room there is for them; send this one again in a moment",
      ...waiting(1)
    }
  ),
  row("overloaded", "a video while the books cannot be reached", withoutStore(video()), away)
]

const operatorWithoutStore = (asked: (organizationId: string) => Asked) =>
  Effect.map(Surface, ({ adminToken, rich }) => ({
    ...asked(rich.organizationId),
    key: adminToken,
    withoutStore: true
  }))

/** Over a real database each of these waits some seconds before it gives up. */
export const patientRows = [
  row(
    "overloaded",
    "an operator's reading while the books cannot be reached",
    operatorWithoutStore((id) => ({ path: `/admin/v1/organizations/${id}/ledger` })),
    away
  ),
  row(
    "overloaded",
    "an operator's write that may have come through",
    operatorWithoutStore((id) => ({
      path: `/admin/v1/organizations/${id}/members`,
      json: { name: "m" }
    })),
    { ...away, headers: { ...away.headers, "x-should-retry": "false" } }
  )
]

const internal = row(
  "internal_error",
  "an adapter with a fault in it",
  asRich(video({ model: "film-defective" })),
  {
    message:
      "The gateway failed to handle this request; its operator finds the cause by this answer's x-request-id",
    headers: { "x-should-retry": "false" }
  }
)

const Accepted = Schema.Struct({ id: Schema.String })

const othersTask = row(
  "task_not_found",
  "another organisation's task",
  Effect.gen(function* () {
    const { customer } = yield* Surface
    const made = yield* succeeding(as(yield* customer("100"), video({ model: "film-told" })))
    const { id } = yield* bodyAs(Accepted, made)
    return yield* asRich({ path: `/v1/videos/${id}` })
  }),
  ({ path }) => ({ message: `No task is called ${JSON.stringify(path.split("/").at(-1))}` })
)

export const limitRows = [...rates, othersTask, internal, ...overloads]
