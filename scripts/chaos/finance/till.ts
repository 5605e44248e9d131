/**
 * What the parts of the finance desk share: accounts on which nobody else acts, requests that are
 * repeated until their answer is definite, and the notes of what was expected and what came.
 */
import { createHash } from "node:crypto"
import { Clock, Effect, Random, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { formatNano } from "../../../src/domain/money/Money.ts"
import type { Operator } from "../customers.ts"
import { type Answer, bodyOf, send } from "../http.ts"
import { outcomeOf, pathOf } from "../load.ts"
import { isPassing } from "../office.ts"
import type { Customer, FinanceNote, FinanceRule, Order, Outcome, Witness } from "../witness.ts"

/** An order had no definite end, so that nothing is known of its account any more. */
export class Unclear extends Schema.TaggedError<Unclear>()("Unclear", {}) {}

export interface Till {
  readonly witness: Witness
  readonly anyGateway: Effect.Effect<Operator>
  /** Begins the ids of orders. */
  readonly name: string
  orderCount: number
  readonly notes: Array<FinanceNote>
}

/** An organisation with one member and one key. */
export interface Account extends Customer {
  readonly keyId: string
}

type Part<A> = Effect.Effect<A, Unclear, HttpClient.HttpClient>

/** The body of any answer, with the fields of which the desk knows the value. */
const readBody = bodyOf(
  Schema.Struct({
    id: Schema.optionalKey(Schema.String),
    key: Schema.optionalKey(Schema.String),
    applied: Schema.optionalKey(Schema.Boolean),
    balance: Schema.optionalKey(Schema.String),
    held: Schema.optionalKey(Schema.String),
    available: Schema.optionalKey(Schema.String),
    charged: Schema.optionalKey(Schema.String),
    exceeded: Schema.optionalKey(Schema.Boolean),
    hold: Schema.optionalKey(Schema.String),
    exposure: Schema.optionalKey(Schema.String),
    task_status: Schema.optionalKey(Schema.String),
    error: Schema.optionalKey(
      Schema.Struct({
        code: Schema.String,
        budget: Schema.optionalKey(Schema.String),
        amount: Schema.optionalKey(Schema.String),
        cap: Schema.optionalKey(Schema.String),
        used: Schema.optionalKey(Schema.String),
        required: Schema.optionalKey(Schema.String),
        available: Schema.optionalKey(Schema.String)
      })
    )
  })
)
type Body = NonNullable<ReturnType<typeof readBody>>

export const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300

/** The answer as a line: the code of an error with its amounts, or the fields of a success. */
export const lineOf = (answer: Answer, fields: ReadonlyArray<keyof Body>): string => {
  const body = readBody(answer)
  if (!isDone(answer) || body === null) {
    const { code = `status ${answer.status}`, ...amounts } = body?.error ?? {}
    return [code, ...Object.entries(amounts).map(([name, value]) => `${name}=${value}`)].join(" ")
  }
  return ["done", ...fields.map((field) => `${field}=${body[field]}`)].join(" ")
}

export const note = (
  { name, notes }: Till,
  rule: FinanceRule,
  what: string,
  expected: string,
  answer: string
): void => {
  notes.push({ rule, what: `${name}: ${what}`, expected, answer })
}

interface Demand {
  readonly method?: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly json?: unknown
  /** The key of a member; that of the operator if missing. */
  readonly key?: string
}

const RETRY = "300 millis"

/** Sends a request of an operator, or of a member, until its answer is definite. */
export const demand = (
  till: Till,
  path: string,
  { key, ...rest }: Demand = {}
): Effect.Effect<Answer, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    for (;;) {
      const { gatewayUrl, adminToken } = yield* till.anyGateway
      const url = key === undefined ? `${gatewayUrl}/admin/v1${path}` : `${gatewayUrl}/v1${path}`
      const answer = yield* send(url, { key: key ?? adminToken, ...rest }).pipe(
        Effect.catchTag("ConnectionLost", () => Effect.succeed(null))
      )
      if (answer !== null && !isPassing(answer)) return answer
      yield* Effect.sleep(RETRY)
    }
  })

/** The field of a request that has to be done. */
export const fieldOf = Effect.fnUntraced(function* <K extends "id" | "key" | "hold" | "exposure">(
  till: Till,
  field: K,
  path: string,
  options: Demand
): Effect.fn.Return<string, Unclear, HttpClient.HttpClient> {
  const answer = yield* demand(till, path, options)
  const value = readBody(answer)?.[field]
  return value ?? (yield* new Unclear())
})

const AccountKey = bodyOf(Schema.Struct({ id: Schema.String, key: Schema.String }))

export const openKey = Effect.fnUntraced(function* (
  till: Till,
  organizationId: string,
  memberId: string
): Effect.fn.Return<Account, Unclear, HttpClient.HttpClient> {
  const answer = yield* demand(till, `/members/${memberId}/keys`, { json: { name: "finance" } })
  const made = AccountKey(answer)
  if (made === null) return yield* new Unclear()
  return { organizationId, memberId, keyId: made.id, key: made.key }
})

export const openMember = Effect.fnUntraced(function* (
  till: Till,
  organizationId: string,
  cap: bigint | null = null
): Effect.fn.Return<Account, Unclear, HttpClient.HttpClient> {
  const memberId = yield* fieldOf(till, "id", `/organizations/${organizationId}/members`, {
    json: { name: "finance", monthly_cap: cap === null ? null : formatNano(cap) }
  })
  return yield* openKey(till, organizationId, memberId)
})

/** Creates an organisation with this balance, with a member and its key. */
export const openAccount = Effect.fnUntraced(function* (
  till: Till,
  balance: bigint,
  cap: bigint | null = null
): Effect.fn.Return<Account, Unclear, HttpClient.HttpClient> {
  const id = yield* fieldOf(till, "id", "/organizations", { json: { name: "finance" } })
  till.witness.untold.add(id)
  yield* deposit(till, id, balance, "first")
  return yield* openMember(till, id, cap)
})

export const deposit = (till: Till, organizationId: string, amount: bigint, reference: string) =>
  demand(till, `/organizations/${organizationId}/deposits`, {
    json: { amount: formatNano(amount), reference }
  })

/** The money of an organisation as its operators read it. */
export const readPool = (till: Till, { organizationId }: Customer) =>
  Effect.map(demand(till, `/organizations/${organizationId}`), (answer) =>
    lineOf(answer, ["balance", "held", "available"])
  )

export const poolLine = (balance: bigint, held = 0n, credit = 0n): string =>
  `done balance=${formatNano(balance)} held=${formatNano(held)} available=${formatNano(balance - held + credit)}`

/** An order of the desk, with the gateway that gets its first request; any if it is null. */
export interface Purchase {
  readonly account: Account
  readonly model: string
  readonly kind: "image" | "video"
  readonly units: number
  /** Words of the prompt that tell the vendor what to do. */
  readonly words?: string
  readonly video?: string
  readonly holdNano?: bigint
}

/** The price of one image of the model that the desk orders. */
export const IMAGE_NANO = 250_000_000n

export const images = (account: Account, units: number): Purchase => ({
  account,
  model: "paint-2",
  kind: "image",
  units
})

/** The price of a second of the video that the desk orders. */
export const SECOND_NANO = 500_000_000n

/** A video that runs for longer than the desk looks at it. */
export const slowVideo = (account: Account, units: number): Purchase => ({
  account,
  model: "motion-1",
  kind: "video",
  units,
  words: "sim:slow=8"
})

const orderOf = (till: Till, purchase: Purchase): Order => {
  const { account, model, kind, units, words = "", video, holdNano } = purchase
  const id = `${till.name.replaceAll(" ", "-")}-${till.orderCount++}`
  const prompt = `${till.witness.canary} ${id} a ledger on a desk ${words}`.trim()
  const size = kind === "image" ? { n: units } : { duration: units, resolution: "720p" }
  const { organizationId, memberId, key } = account
  return {
    id,
    customer: { organizationId, memberId, key },
    model,
    kind,
    isLater: false,
    units,
    prompt,
    promptDigest: createHash("sha256").update(prompt).digest("hex"),
    json: { model, prompt, ...size, ...(video === undefined ? {} : { video_url: video }) },
    idempotencyKey: `order-${id}`,
    maxWait: null,
    ...(holdNano === undefined ? {} : { holdNano })
  }
}

/** Whether the same order may have another answer a little later. */
const isUndecided = (outcome: Outcome): boolean =>
  outcome._tag !== "Refused" ||
  outcome.status >= 500 ||
  ["upstream_error", "idempotency_conflict", "rate_limited"].includes(outcome.code)

export type End =
  | { readonly _tag: "Taken"; readonly taskId: string | null }
  | { readonly _tag: "Refused"; readonly line: string }

const MAX_TRIES = 12
const MAX_ORDERS = 4

/** Sends an order under its key until its answer is definite; null where its vendor failed it. */
const place = Effect.fnUntraced(function* (
  till: Till,
  order: Order,
  firstUrl: string | null
): Effect.fn.Return<End | null, Unclear, HttpClient.HttpClient> {
  const { witness } = till
  witness.orders.set(order.promptDigest, order)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const url = tries === 0 && firstUrl !== null ? firstUrl : (yield* till.anyGateway).gatewayUrl
    const startedAt = yield* Clock.currentTimeMillis
    const answer = yield* send(`${url}/v1/${pathOf(order)}`, {
      key: order.customer.key,
      json: order.json,
      headers: { "idempotency-key": order.idempotencyKey ?? "" }
    }).pipe(Effect.catchTag("ConnectionLost", () => Effect.succeed(null)))
    const endedAt = yield* Clock.currentTimeMillis
    const outcome: Outcome = answer === null ? { _tag: "Lost" } : outcomeOf(order, answer)
    witness.attempts.push({ order, gateway: url, startedAt, endedAt, outcome })
    if (outcome._tag === "Accepted") return { _tag: "Taken", taskId: outcome.taskId }
    if (answer !== null && !isUndecided(outcome)) {
      return { _tag: "Refused", line: lineOf(answer, []) }
    }
    if (answer?.headers["idempotency-replayed"] === "true") return null
    yield* Effect.sleep(`${200 + 100 * tries} millis`)
  }
  return yield* new Unclear()
})

/** Orders until an order is taken, or refused: one that its vendor failed is paid back in full. */
const buyAt = Effect.fnUntraced(function* (
  till: Till,
  purchase: Purchase,
  firstUrl: string | null
): Effect.fn.Return<End, Unclear, HttpClient.HttpClient> {
  for (let orders = 0; orders < MAX_ORDERS; orders++) {
    const end = yield* place(till, orderOf(till, purchase), firstUrl)
    if (end !== null) return end
  }
  return yield* new Unclear()
})

export const buy = (till: Till, purchase: Purchase): Part<End> => buyAt(till, purchase, null)

/** Places all orders at a time at one gateway, whose next batch they are. */
export const buyTogether = Effect.fnUntraced(function* (
  till: Till,
  purchases: ReadonlyArray<Purchase>
): Effect.fn.Return<ReadonlyArray<End>, Unclear, HttpClient.HttpClient> {
  const { gatewayUrl } = yield* till.anyGateway
  return yield* Effect.forEach(purchases, (purchase) => buyAt(till, purchase, gatewayUrl), {
    concurrency: "unbounded"
  })
})

export const lineOfEnd = (end: End): string => (end._tag === "Taken" ? "taken" : end.line)

/** Buys, and notes whether the order ends as it has to. */
export const expectEnd = Effect.fnUntraced(function* (
  till: Till,
  rule: FinanceRule,
  what: string,
  purchase: Purchase,
  expected: string
): Effect.fn.Return<End, Unclear, HttpClient.HttpClient> {
  const end = yield* buy(till, purchase)
  note(till, rule, what, expected, lineOfEnd(end))
  return end
})

export const shortOf = (required: bigint, available: bigint): string =>
  `insufficient_balance required=${formatNano(required)} available=${formatNano(available)}`

/** The refusal by a budget. */
export const overBudget = (
  budget: string,
  amount: bigint,
  used: bigint,
  required: bigint
): string =>
  `budget_exceeded budget=${budget} amount=${formatNano(amount)} used=${formatNano(used)} required=${formatNano(required)}`

export interface NewBudget {
  readonly scope: "organization" | "member" | "key"
  readonly period: "day" | "month" | "total"
  readonly amount: bigint
  readonly thresholds?: ReadonlyArray<number>
}

const subjectOf = ({ scope }: NewBudget, account: Account): string => {
  if (scope === "organization") return account.organizationId
  return scope === "member" ? account.memberId : account.keyId
}

/**
 * Creates a budget. A request whose answer was lost may have left another one like it, so nothing
 * is known after a repeat.
 */
export const openBudget = Effect.fnUntraced(function* (
  till: Till,
  account: Account,
  budget: NewBudget
): Effect.fn.Return<
  { readonly id: string; readonly line: string },
  Unclear,
  HttpClient.HttpClient
> {
  const { gatewayUrl, adminToken } = yield* till.anyGateway
  const { scope, period, amount, thresholds } = budget
  const path = `/organizations/${account.organizationId}/budgets`
  const json = {
    scope,
    period,
    subject_id: subjectOf(budget, account),
    amount: formatNano(amount),
    ...(thresholds === undefined ? {} : { thresholds })
  }
  const answer = yield* send(`${gatewayUrl}/admin/v1${path}`, { key: adminToken, json }).pipe(
    Effect.mapError(() => new Unclear())
  )
  const id = readBody(answer)?.id
  if (id === undefined || !isDone(answer)) return yield* new Unclear()
  return { id, line: lineOf(answer, ["held", "charged", "available", "exceeded"]) }
})

export const readBudget = (till: Till, { organizationId }: Account, id: string) =>
  Effect.map(demand(till, `/organizations/${organizationId}/budgets/${id}`), (answer) =>
    lineOf(answer, ["held", "charged", "available", "exceeded"])
  )

export const changeBudget = (till: Till, organizationId: string, id: string, amount: bigint) =>
  Effect.map(
    demand(till, `/organizations/${organizationId}/budgets/${id}`, {
      method: "PATCH",
      json: { amount: formatNano(amount) }
    }),
    (answer) => lineOf(answer, ["held", "charged", "available", "exceeded"])
  )

/** A budget as it is read. */
export const budgetLine = (amount: bigint, charged: bigint, held = 0n): string => {
  const left = amount - charged - held
  return `done held=${formatNano(held)} charged=${formatNano(charged)} available=${formatNano(left < 0n ? 0n : left)} exceeded=${left < 0n}`
}

/**
 * Keeps the notes that were made while a task was processing only if it still is: with faults, it
 * may have ended sooner.
 */
export const whileOpen = Effect.fnUntraced(function* <A>(
  till: Till,
  account: Account,
  taskId: string,
  looks: Part<A>
): Effect.fn.Return<A, Unclear, HttpClient.HttpClient> {
  const before = till.notes.length
  const value = yield* looks
  const answer = yield* demand(till, `/videos/${taskId}`, { key: account.key })
  if (readBody(answer)?.task_status === "processing") return value
  till.notes.splice(before)
  return yield* new Unclear()
})

export const drawOf = <A>(values: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.orDie(Random.choice(values))
