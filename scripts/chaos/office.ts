/**
 * Operators at work during a run: they change the catalog and a price list, create and revoke keys,
 * and move budgets. None of it changes the price of an order.
 */
import { Clock, Effect, Random, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { NANO_PER_UNIT } from "../../src/domain/money/Money.ts"
import type { Market, Operator } from "./customers.ts"
import { type Answer, bodyOf, send } from "./http.ts"
import { type Budget, type BudgetChange, count, type RevokedKey, type Witness } from "./witness.ts"

/** The operator's access to a gateway that serves at the moment. */
type AnyGateway = Effect.Effect<Operator>

interface Request {
  readonly path: string
  readonly method?: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const RETRY = "300 millis"
/** The status where the catalog was changed since it was read. */
const CONFLICT = 412

const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300

/** Whether the same request may be answered otherwise a little later. */
export const isPassing = ({ status }: Answer): boolean => status >= 500 || status === 429

/** Sends one request of an operator; null where no answer came. */
const ask = Effect.fnUntraced(function* (
  witness: Witness,
  anyGateway: AnyGateway,
  { path, ...request }: Request
): Effect.fn.Return<Answer | null, never, HttpClient.HttpClient> {
  const { gatewayUrl, adminToken } = yield* anyGateway
  const answer = yield* send(`${gatewayUrl}/admin/v1${path}`, { key: adminToken, ...request }).pipe(
    Effect.catchTag("ConnectionLost", () => Effect.succeed(null))
  )
  if (answer === null) return null
  const isRefused = !isDone(answer) && !isPassing(answer) && answer.status !== CONFLICT
  witness.office.push(isRefused ? `${path} answered ${answer.status} ${answer.text}` : null)
  return answer
})

/** Repeats a request until it is done or refused; null where it was refused. */
const askUntilDone = (witness: Witness, anyGateway: AnyGateway, request: Request) =>
  ask(witness, anyGateway, request).pipe(
    Effect.tap((answer) =>
      answer === null || isPassing(answer) ? Effect.sleep(RETRY) : Effect.void
    ),
    Effect.repeat({ until: (answer) => answer !== null && !isPassing(answer) }),
    Effect.map((answer) => (answer !== null && isDone(answer) ? answer : null))
  )

const pause = (leastMillis: number, mostMillis: number) =>
  Effect.flatMap(Random.nextIntBetween(leastMillis, mostMillis), (millis) =>
    Effect.sleep(`${millis} millis`)
  )

const Entry = Schema.Record(Schema.String, Schema.Unknown)
const readCatalog = bodyOf(
  Schema.StructWithRest(
    Schema.Struct({ channels: Schema.Array(Entry), mounts: Schema.Array(Entry) }),
    [Entry]
  )
)
type Document = NonNullable<ReturnType<typeof readCatalog>>

/** The channel whose name, and the model whose vendor's price an operator changes. */
const NAMED_CHANNEL = "demo-fal"
const COSTLY_MODEL = "clip-1"

const withName = (document: Document, name: string): Document => ({
  ...document,
  channels: document.channels.map((channel) =>
    channel.id === NAMED_CHANNEL ? { ...channel, name } : channel
  )
})

const withCost = (document: Document, price: string): Document => ({
  ...document,
  mounts: document.mounts.map((mount) =>
    mount.model === COSTLY_MODEL
      ? { ...mount, cost: { kind: "second_video", per_second: { "720p": price } } }
      : mount
  )
})

/** The changes of two operators, who each change one field of the catalog. */
const catalogDesks = [
  { desk: "name", makeValue: (number: number) => `Vendor ${number}`, change: withName },
  { desk: "cost", makeValue: (number: number) => `0.3${number}1`, change: withCost }
] as const

/**
 * Changes one field of the catalog again and again, each time on the version that was read before;
 * where another operator was faster, it reads the catalog again.
 */
const changeCatalog = (
  witness: Witness,
  anyGateway: AnyGateway,
  { desk, makeValue, change }: (typeof catalogDesks)[number]
) => {
  const write = Effect.fnUntraced(function* (value: string) {
    const catalog = yield* ask(witness, anyGateway, { path: "/catalog" })
    const document = catalog === null ? null : readCatalog(catalog)
    const version = catalog?.headers.etag
    if (document === null || version === undefined) return false
    const answer = yield* ask(witness, anyGateway, {
      path: "/catalog",
      method: "PUT",
      json: change(document, value),
      headers: { "if-match": version }
    })
    if (answer?.status === CONFLICT) count(witness, "catalog changes repeated after a conflict")
    return answer !== null && isDone(answer)
  })
  return Effect.gen(function* () {
    for (;;) {
      const number = witness.catalogChanges.length + 1
      const entry = { desk, value: makeValue(number), acknowledged: false }
      witness.catalogChanges.push(entry)
      yield* write(entry.value).pipe(
        Effect.tap((done) => (done ? Effect.void : Effect.sleep(RETRY))),
        Effect.repeat({ until: (done) => done })
      )
      entry.acknowledged = true
      yield* pause(200, 1500)
    }
  })
}

/** Puts organisations on a price list with the catalog's prices, and takes them off. */
const changePriceLists = (witness: Witness, anyGateway: AnyGateway, market: Market) => {
  const { priceListId: id } = market
  return Effect.gen(function* () {
    const isOn = yield* Random.nextBoolean
    const organizationId = yield* Random.choice(market.organizations).pipe(Effect.orDie)
    yield* askUntilDone(witness, anyGateway, {
      path: `/organizations/${organizationId}`,
      method: "PATCH",
      json: { price_list: isOn ? id : null }
    })
    const terms = (yield* Random.nextBoolean) ? { factor: "1" } : { prices: market.ownPrices }
    yield* askUntilDone(witness, anyGateway, {
      path: `/price-lists/${id}`,
      method: "PUT",
      json: { name: "the catalog's prices", ...terms }
    })
    count(witness, "price lists changed")
    yield* pause(500, 2000)
  }).pipe(Effect.forever)
}

const CreatedKey = bodyOf(Schema.Struct({ id: Schema.String, key: Schema.String }))

/** How often a key is used at any gateway while it is valid, and again after it was revoked. */
const USES = 5
/** The longest time from the last use of a valid key to its revocation. */
const MOST_UNUSED_MILLIS = 500
/** The time within which every gateway has heard of a revoked key, with a margin. */
const HEARD = "1100 millis"

/** Creates keys, uses them, revokes them, and uses them again. */
const changeKeys = (witness: Witness, anyGateway: AnyGateway, market: Market) => {
  const use = Effect.fnUntraced(function* (keyId: string, key: string) {
    yield* pause(0, 200)
    const { gatewayUrl } = yield* anyGateway
    const startedAt = yield* Clock.currentTimeMillis
    const answer = yield* Effect.option(send(`${gatewayUrl}/v1/me`, { key }))
    const endedAt = yield* Clock.currentTimeMillis
    if (answer._tag === "Some") {
      witness.keyUses.push({ keyId, startedAt, endedAt, status: answer.value.status })
    }
  })
  const useOften = (keyId: string, key: string) =>
    Effect.replicateEffect(use(keyId, key), USES, { concurrency: "unbounded", discard: true })
  return Effect.gen(function* () {
    const { memberId } = yield* Random.choice(market.customers).pipe(Effect.orDie)
    const answer = yield* askUntilDone(witness, anyGateway, {
      path: `/members/${memberId}/keys`,
      json: { name: "for a while" }
    })
    const made = answer === null ? null : CreatedKey(answer)
    if (made === null) return yield* Effect.sleep(RETRY)
    const { id, key } = made
    yield* useOften(id, key)
    yield* pause(0, MOST_UNUSED_MILLIS)
    const revokedFrom = yield* Clock.currentTimeMillis
    const revoked: RevokedKey = { id, key, revokedFrom, revokedAt: null }
    witness.keys.push(revoked)
    yield* askUntilDone(witness, anyGateway, { path: `/keys/${id}`, method: "DELETE" })
    revoked.revokedAt = yield* Clock.currentTimeMillis
    yield* Effect.sleep(HEARD)
    yield* useOften(id, key)
  }).pipe(Effect.forever)
}

/** The units by which a budget is raised, and lowered again before it is raised further. */
const RAISE = 12n
const LOWER = 7n

/**
 * Raises a budget and lowers it by a part of that, so that it binds for most of the time: also below
 * what was ordered already.
 */
const changeBudget = (witness: Witness, anyGateway: AnyGateway, budget: Budget) => {
  const change = Effect.fnUntraced(function* (amount: bigint) {
    const startedAt = yield* Clock.currentTimeMillis
    const entry: BudgetChange = { amountNano: amount * NANO_PER_UNIT, startedAt, endedAt: null }
    budget.changes.push(entry)
    yield* askUntilDone(witness, anyGateway, {
      path: `/organizations/${budget.organizationId}/budgets/${budget.id}`,
      method: "PATCH",
      json: { amount: String(amount) }
    })
    entry.endedAt = yield* Clock.currentTimeMillis
    yield* pause(1500, 5000)
  })
  return Effect.gen(function* () {
    for (let amount = budget.firstAmount; ; amount += RAISE - LOWER) {
      yield* change(amount + RAISE)
      yield* change(amount + RAISE - LOWER)
    }
  })
}

/** What operators change. */
export const desks = ["catalog", "price lists", "keys", "budgets", "finance"] as const
export type Desk = (typeof desks)[number]

/** The operators of some desks at work, until they are interrupted. */
export const runOffice = (
  witness: Witness,
  anyGateway: AnyGateway,
  market: Market,
  chosen: ReadonlyArray<Desk>
): Effect.Effect<void, never, HttpClient.HttpClient> => {
  const work = {
    catalog: catalogDesks.map((desk) => changeCatalog(witness, anyGateway, desk)),
    "price lists": [changePriceLists(witness, anyGateway, market)],
    keys: [changeKeys(witness, anyGateway, market)],
    budgets: witness.budgets.map((budget) => changeBudget(witness, anyGateway, budget)),
    // It comes to an end by itself, for which its driver waits.
    finance: []
  }
  return Effect.all(
    chosen.flatMap((desk) => work[desk]),
    { concurrency: "unbounded", discard: true }
  )
}
