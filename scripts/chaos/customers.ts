/**
 * The organisations of a run: some with a large balance, some with a small balance and small
 * deposits, some with member caps.
 */
import { Effect, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { parseNano } from "../../src/domain/money/Money.ts"
import { catalogFor } from "./goods.ts"
import { bodyOf, type ConnectionLost, send } from "./http.ts"
import { type Customer, count, type Witness } from "./witness.ts"

/** The operator's access to one gateway. */
export interface Operator {
  readonly gatewayUrl: string
  readonly adminToken: string
}

const Created = bodyOf(Schema.Struct({ id: Schema.String }))
const CreatedKey = bodyOf(Schema.Struct({ id: Schema.String, key: Schema.String }))

const ask = Effect.fnUntraced(function* (
  operator: Operator,
  path: string,
  json?: unknown,
  method?: "PUT"
) {
  const answer = yield* send(`${operator.gatewayUrl}/admin/v1${path}`, {
    key: operator.adminToken,
    ...(json === undefined ? {} : { json }),
    ...(method === undefined ? {} : { method })
  })
  return answer.status >= 200 && answer.status < 300
    ? answer
    : yield* Effect.die(new Error(`${path} answered ${answer.status} ${answer.text}`))
})

const created = <A>(
  read: (answer: Effect.Success<ReturnType<typeof ask>>) => A | null,
  answer: Effect.Effect<
    Effect.Success<ReturnType<typeof ask>>,
    ConnectionLost,
    HttpClient.HttpClient
  >
) =>
  Effect.flatMap(answer, (given) => {
    const value = read(given)
    return value === null
      ? Effect.die(new Error(`an unexpected answer: ${given.text}`))
      : Effect.succeed(value)
  })

const purses = ["rich", "tight", "capped"] as const
const FIRST_DEPOSIT = { rich: "1000000", tight: "40", capped: "1000000" }
const TOP_UP = "15"

/**
 * A member's monthly cap is this amount times the minutes of the run, so that the run uses it up.
 */
const CAP_PER_MINUTE = 30

/**
 * The first amount of the budgets of a run, in whole units, which its orders soon use up: of the
 * first organisation with a large balance, and of the first member of the second.
 */
const FIRST_BUDGET = 15n

/** The price of a product in a price list, which is that of the catalog. */
const OWN_PRICE_OF = "paint-1"

export interface Market {
  readonly customers: ReadonlyArray<Customer>
  readonly organizations: ReadonlyArray<string>
  /** A price list whose prices are those of the catalog, and a form of it with own prices. */
  readonly priceListId: string
  readonly ownPrices: Readonly<Record<string, unknown>>
  /** The ids of the organisations that live on small deposits. */
  readonly tight: ReadonlyArray<string>
}

const nano = (decimal: string) => Effect.orDie(Effect.fromResult(parseNano(decimal)))

/** Loads the catalog and creates `clients` customers. Must run before the first disaster. */
export const openMarket = Effect.fnUntraced(function* (
  witness: Witness,
  operator: Operator,
  options: {
    readonly simulatorUrl: string
    readonly receiverUrl: string
    readonly organizations: number
    readonly clients: number
    readonly minutes: number
  }
) {
  const catalog = catalogFor(options.simulatorUrl)
  yield* ask(operator, "/catalog", catalog, "PUT")
  const { id: priceListId } = yield* created(
    Created,
    ask(operator, "/price-lists", { name: "the catalog's prices", factor: "1" })
  )
  const organizations = yield* Effect.forEach(
    Array.from(
      { length: options.organizations },
      (_, index) => purses[index % purses.length] ?? "rich"
    ),
    Effect.fnUntraced(function* (purse, index) {
      const { id } = yield* created(Created, ask(operator, "/organizations", { name: purse }))
      yield* deposit(witness, operator, id, `first ${index}`, FIRST_DEPOSIT[purse])
      yield* ask(operator, "/webhook_endpoints", {
        organization_id: id,
        name: "chaos",
        url: `${options.receiverUrl}/${id}`,
        event_types: ["video.completed", "video.failed", "image.completed", "image.failed"]
      })
      return { id, purse }
    })
  )
  const customers = yield* Effect.forEach(
    Array.from({ length: options.clients }, (_, index) => index),
    Effect.fnUntraced(function* (index): Effect.fn.Return<
      Customer,
      ConnectionLost,
      HttpClient.HttpClient
    > {
      const organization = organizations[index % organizations.length]
      if (organization === undefined) return yield* Effect.die(new Error("no organisation"))
      const cap = Math.ceil(options.minutes * CAP_PER_MINUTE)
      const member = yield* created(
        Created,
        ask(operator, `/organizations/${organization.id}/members`, {
          name: `client ${index}`,
          monthly_cap: organization.purse === "capped" ? String(cap) : null
        })
      )
      const { key } = yield* created(
        CreatedKey,
        ask(operator, `/members/${member.id}/keys`, { name: "chaos" })
      )
      return { organizationId: organization.id, memberId: member.id, key }
    })
  )
  const tight = organizations.flatMap(({ id, purse }) => (purse === "tight" ? [id] : []))
  const [whole, other] = organizations.filter(({ purse }) => purse === "rich")
  yield* openBudget(witness, operator, whole?.id, null)
  const member = customers.find(({ organizationId }) => organizationId === other?.id)
  yield* openBudget(witness, operator, other?.id, member?.memberId ?? null)
  return {
    customers,
    organizations: organizations.map(({ id }) => id),
    priceListId,
    ownPrices: Object.fromEntries(
      catalog.models.flatMap(({ id, prices }) => (id === OWN_PRICE_OF ? [[id, prices]] : []))
    ),
    tight
  } satisfies Market
})

/** Creates a budget of all time for an organisation, or for one of its members. */
const openBudget = Effect.fnUntraced(function* (
  witness: Witness,
  operator: Operator,
  organizationId: string | undefined,
  memberId: string | null
) {
  if (organizationId === undefined) return yield* Effect.die(new Error("no organisation"))
  const { id } = yield* created(
    Created,
    ask(operator, `/organizations/${organizationId}/budgets`, {
      ...(memberId === null
        ? { scope: "organization" }
        : { scope: "member", subject_id: memberId }),
      period: "total",
      amount: String(FIRST_BUDGET)
    })
  )
  witness.budgets.push({ id, organizationId, memberId, firstAmount: FIRST_BUDGET, changes: [] })
})

/** Makes one deposit with one request. Its reference makes a retry safe. */
const deposit = Effect.fnUntraced(function* (
  witness: Witness,
  operator: Operator,
  organizationId: string,
  reference: string,
  amount: string
) {
  const known = witness.deposits.find(
    (one) => one.organizationId === organizationId && one.reference === reference
  )
  const entry = known ?? {
    organizationId,
    reference,
    amountNano: yield* nano(amount),
    acknowledged: false
  }
  if (known === undefined) witness.deposits.push(entry)
  const answer = yield* send(
    `${operator.gatewayUrl}/admin/v1/organizations/${organizationId}/deposits`,
    { key: operator.adminToken, json: { amount, reference } }
  )
  const done = answer.status >= 200 && answer.status < 300
  if (done) entry.acknowledged = true
  count(witness, done ? "deposits acknowledged" : "deposits refused")
  return done
})

/**
 * Makes a small deposit for an organisation; retried under the same reference until it is
 * acknowledged.
 */
export const topUp = Effect.fnUntraced(function* (
  witness: Witness,
  operator: Effect.Effect<Operator>,
  organizationId: string,
  reference: string
) {
  const once = Effect.flatMap(operator, (through) =>
    deposit(witness, through, organizationId, reference, TOP_UP)
  ).pipe(Effect.catchTag("ConnectionLost", () => Effect.succeed(false)))
  yield* Effect.repeat(Effect.delay(once, "200 millis"), { until: (done) => done })
})
