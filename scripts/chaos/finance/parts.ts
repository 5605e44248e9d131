/**
 * The parts of the finance desk's work. Each opens accounts of its own, on which nobody else acts,
 * so that every answer is known beforehand.
 */
import { Clock, Effect, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { formatNano, NANO_PER_UNIT } from "../../../src/domain/money/Money.ts"
import { bodyOf } from "../http.ts"
import {
  type Account,
  budgetLine,
  buy,
  buyTogether,
  changeBudget,
  demand,
  deposit,
  drawOf,
  type End,
  expectEnd,
  fieldOf,
  IMAGE_NANO,
  images,
  isDone,
  lineOf,
  lineOfEnd,
  type NewBudget,
  note,
  openAccount,
  openBudget,
  openKey,
  openMember,
  overBudget,
  poolLine,
  readBudget,
  readPool,
  SECOND_NANO,
  shortOf,
  slowVideo,
  type Till,
  Unclear,
  whileOpen
} from "./till.ts"

type Part = (till: Till) => Effect.Effect<void, Unclear, HttpClient.HttpClient>

const unit = NANO_PER_UNIT
const image = IMAGE_NANO

interface Adjustment {
  readonly kind: "credit" | "withdrawal" | "correction"
  readonly amount: bigint
  readonly reference: string
  readonly reason?: string
  readonly usage_id?: string
}

/** Makes an adjustment. A first one may be a repeat of a request whose answer was lost. */
const adjust = Effect.fnUntraced(function* (
  till: Till,
  { organizationId }: Account,
  what: string,
  { amount, reason = "by the desk", ...rest }: Adjustment,
  expected: string
) {
  const answer = yield* demand(till, `/organizations/${organizationId}/adjustments`, {
    json: { ...rest, reason, amount: formatNano(amount) }
  })
  const fields = expected.includes("applied")
    ? (["applied", "balance"] as const)
    : (["balance"] as const)
  note(till, "F1", what, expected, lineOf(answer, fields))
})

const done = (balance: bigint) => `done balance=${formatNano(balance)}`
const again = (balance: bigint) => `done applied=false balance=${formatNano(balance)}`

const transfers: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 10n * unit)
  const pay = Effect.fnUntraced(function* (amount: bigint, reference: string, expected: string) {
    const answer = yield* deposit(till, account.organizationId, amount, reference)
    note(till, "F1", `a deposit ${reference}`, expected, lineOf(answer, ["applied", "balance"]))
  })
  const move = (what: string, adjustment: Adjustment, expected: string) =>
    adjust(till, account, what, adjustment, expected)
  yield* pay(10n * unit, "first", again(10n * unit))
  yield* pay(11n * unit, "first", "idempotency_mismatch")
  yield* pay(0n, "nothing", "invalid_request")
  const credit = { kind: "credit", amount: 2n * unit, reference: "a" } as const
  yield* move("a credit", credit, done(12n * unit))
  yield* move("the same credit", credit, again(12n * unit))
  yield* move("another amount", { ...credit, amount: unit }, "idempotency_mismatch")
  yield* move("another kind", { ...credit, kind: "withdrawal" }, "idempotency_mismatch")
  yield* move("another reason", { ...credit, reason: "another" }, "idempotency_mismatch")
  const withdrawal = { kind: "withdrawal", amount: 12n * unit, reference: "b" } as const
  const above = withdrawal.amount + 1n
  yield* move("more than there is", { ...withdrawal, amount: above }, shortOf(above, 12n * unit))
  yield* move("all that there is", withdrawal, done(0n))
  yield* move("it once more", withdrawal, again(0n))
  yield* move("a unit of nothing", { ...withdrawal, amount: 1n, reference: "c" }, shortOf(1n, 0n))
  note(till, "F2", "the pool", poolLine(0n), yield* readPool(till, account))
})

const UsageList = bodyOf(
  Schema.Struct({
    data: Schema.Array(Schema.Struct({ id: Schema.String, charge: Schema.String }))
  })
)

/** The id of the charge of this amount. */
const usageOf = Effect.fnUntraced(function* (till: Till, { key }: Account, charge: bigint) {
  const list = UsageList(yield* demand(till, "/usage", { key }))
  const entry = list?.data.find((one) => one.charge === formatNano(charge))
  return entry?.id ?? (yield* new Unclear())
})

const corrections: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 5n * unit)
  const buyImages = Effect.fnUntraced(function* (units: number) {
    yield* expectEnd(till, "F3", "images", images(account, units), "taken")
    return yield* usageOf(till, account, BigInt(units) * image)
  })
  const first = yield* buyImages(2)
  const second = yield* buyImages(1)
  const left = 5n * unit - 3n * image
  const correction = { kind: "correction", amount: image, reference: "a", usage_id: first } as const
  const move = (what: string, change: Partial<Adjustment>, expected: string) =>
    adjust(till, account, what, { ...correction, ...change }, expected)
  yield* move("a correction", {}, done(left + image))
  yield* move("the same", {}, again(left + image))
  yield* move("of another order", { usage_id: second }, "idempotency_mismatch")
  yield* move("more than the rest", { reference: "b", amount: image + 1n }, "invalid_request")
  yield* move("the rest", { reference: "b" }, done(left + 2n * image))
  yield* move("more than all", { reference: "c", amount: 1n }, "invalid_request")
  const open = yield* buy(till, slowVideo(account, 2))
  if (open._tag === "Refused" || open.taskId === null) return yield* new Unclear()
  const usage_id = first.slice(0, first.indexOf("_") + 1) + open.taskId
  yield* whileOpen(
    till,
    account,
    open.taskId,
    move("what is open", { reference: "d", usage_id }, "not_found")
  )
})

const takenOf = (ends: ReadonlyArray<End>): number =>
  ends.filter(({ _tag }) => _tag === "Taken").length

const expectRefusals = (
  till: Till,
  rule: "F3" | "F4" | "F6",
  what: string,
  ends: ReadonlyArray<End>,
  expected: string
) => {
  for (const end of ends) {
    if (end._tag === "Refused") note(till, rule, what, expected, end.line)
  }
}

const balances: Part = Effect.fnUntraced(function* (till) {
  const rich = yield* openAccount(till, 100n * unit)
  const poor = yield* openAccount(till, 3n * image)
  const other = yield* openAccount(till, 2n * image)
  const ends = yield* buyTogether(till, [
    images(rich, 1),
    ...Array.from({ length: 4 }, () => images(poor, 1)),
    images(other, 2),
    images(rich, 4)
  ])
  const ofPoor = ends.slice(1, 5)
  note(till, "F3", "of four at a time", "3 taken", `${takenOf(ofPoor)} taken`)
  const [none, exact, more] = [ends[0], ends[5], ends[6]]
  for (const end of [none, exact, more]) {
    if (end !== undefined) note(till, "F3", "beside others", "taken", lineOfEnd(end))
  }
  expectRefusals(till, "F3", "one too many", ofPoor, shortOf(image, 0n))
  note(till, "F2", "the pool that is used up", poolLine(0n), yield* readPool(till, poor))
  yield* expectEnd(till, "F3", "of nothing", images(poor, 1), shortOf(image, 0n))
  yield* deposit(till, poor.organizationId, 2n * image - 1n, "second")
  yield* expectEnd(till, "F3", "almost", images(poor, 2), shortOf(2n * image, 2n * image - 1n))
  yield* deposit(till, poor.organizationId, 1n, "third")
  yield* expectEnd(till, "F3", "the last of it", images(poor, 2), "taken")
  note(till, "F2", "the pool in the end", poolLine(0n), yield* readPool(till, poor))
})

const scopes = ["key", "member", "organization"] as const
const periods = ["day", "month", "total"] as const

/** One budget, used to the last unit by orders one after the other and at a time. */
const oneBudget: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 100n * unit)
  const stranger = yield* openMember(till, account.organizationId)
  const sibling = yield* openKey(till, account.organizationId, account.memberId)
  const scope = yield* drawOf(scopes)
  const period = yield* drawOf(periods)
  const isOurs = scope === "organization"
  const isOfMember = scope !== "key"
  yield* expectEnd(till, "F3", "before", images(account, 1), "taken")
  yield* expectEnd(till, "F3", "a sibling's", images(sibling, 2), "taken")
  yield* expectEnd(till, "F3", "a stranger's", images(stranger, 3), "taken")
  const before = image * (1n + (isOfMember ? 2n : 0n) + (isOurs ? 3n : 0n))
  const amount = before + 3n * image
  const budget = yield* openBudget(till, account, { scope, period, amount })
  note(till, "F5", "a new budget", budgetLine(amount, before), budget.line)
  const ends = yield* buyTogether(
    till,
    Array.from({ length: 4 }, () => images(account, 1))
  )
  note(till, "F4", "of four at a time", "3 taken", `${takenOf(ends)} taken`)
  const refusal = (used: bigint, by = amount, required = image) =>
    overBudget(budget.id, by, used, required)
  expectRefusals(till, "F4", "one too many", ends, refusal(amount))
  const full = yield* readBudget(till, account, budget.id)
  note(till, "F5", "a full budget", budgetLine(amount, amount), full)
  const raised = amount + 2n * image
  const change = yield* changeBudget(till, account.organizationId, budget.id, raised)
  note(till, "F5", "a raised budget", budgetLine(raised, amount), change)
  const tooMuch = refusal(amount, raised, 3n * image)
  yield* expectEnd(till, "F4", "more than the rest", images(account, 3), tooMuch)
  yield* expectEnd(till, "F4", "exactly the rest", images(account, 2), "taken")
  const beside = isOurs ? refusal(raised, raised) : "taken"
  yield* expectEnd(till, "F4", "a stranger's", images(stranger, 1), beside)
  const end = yield* readBudget(till, account, budget.id)
  note(till, "F5", "in the end", budgetLine(raised, raised), end)
})

interface OpenBudget extends NewBudget {
  readonly id: string
}

/** The narrowest budget first. */
const narrowest = (one: OpenBudget, other: OpenBudget): number =>
  scopes.indexOf(one.scope) - scopes.indexOf(other.scope) ||
  periods.indexOf(one.period) - periods.indexOf(other.period) ||
  Number(one.amount - other.amount)

/** Budgets of drawn scopes, periods and amounts: the narrowest that has no room refuses. */
const manyBudgets: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 100n * unit)
  const amounts = [2n * image, 2n * image + 1n, 3n * image - 1n, 100n * image]
  const budgets: Array<OpenBudget> = []
  const scope = yield* drawOf(scopes)
  const period = yield* drawOf(periods)
  const drafts = [
    { scope: yield* drawOf(scopes), period },
    { scope, period: yield* drawOf(periods) },
    { scope, period },
    { scope, period }
  ]
  for (const [index, draft] of drafts.entries()) {
    const amount = amounts[index] ?? unit
    const wide = index < 2 && (yield* drawOf([true, false]))
    const budget: NewBudget = { ...draft, amount: wide ? 100n * image : amount }
    const { id, line } = yield* openBudget(till, account, budget)
    note(till, "F5", "a new budget", budgetLine(budget.amount, 0n), line)
    budgets.push({ ...budget, id })
  }
  const refusalAt = (used: bigint, required: bigint): string => {
    const by = budgets.toSorted(narrowest).find(({ amount }) => used + required > amount)
    return by === undefined ? "taken" : overBudget(by.id, by.amount, used, required)
  }
  let used = 0n
  for (const units of [2, 1, 1]) {
    const required = BigInt(units) * image
    const expected = refusalAt(used, required)
    yield* expectEnd(till, "F4", `${units} at ${used}`, images(account, units), expected)
    if (expected === "taken") used += required
  }
  const first = budgets[0]
  if (first === undefined) return
  note(
    till,
    "F5",
    "in the end",
    budgetLine(first.amount, used),
    yield* readBudget(till, account, first.id)
  )
})

/** A member's cap, and a budget of the organisation after it that has less room. */
const caps: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 100n * unit, 2n * image)
  const other = yield* openMember(till, account.organizationId)
  yield* expectEnd(till, "F4", "exactly the cap", images(account, 2), "taken")
  const used = formatNano(2n * image)
  const refusal = `member_cap_exceeded cap=${used} used=${used} required=${formatNano(image)}`
  yield* expectEnd(till, "F4", "above the cap", images(account, 1), refusal)
  yield* expectEnd(till, "F4", "of another member", images(other, 1), "taken")
  const wide: NewBudget = { scope: "key", period: "day", amount: 100n * unit }
  const tight: NewBudget = { scope: "organization", period: "total", amount: 4n * image }
  yield* openBudget(till, other, wide)
  const { id, line } = yield* openBudget(till, other, tight)
  note(till, "F5", "of all members", budgetLine(tight.amount, 3n * image), line)
  const over = overBudget(id, tight.amount, 3n * image, 2n * image)
  yield* expectEnd(till, "F4", "the second budget", images(other, 2), over)
})

/** Orders of several keys and organisations in a batch, each with budgets of its own. */
const together: Part = Effect.fnUntraced(function* (till) {
  const free = yield* openAccount(till, 100n * unit)
  const account = yield* openAccount(till, 100n * unit)
  const other = yield* openMember(till, account.organizationId)
  const third = yield* openMember(till, account.organizationId)
  const key = { scope: "key", period: "total" } as const
  const small = yield* openBudget(till, account, { ...key, amount: image })
  const large = yield* openBudget(till, other, { ...key, amount: 3n * image })
  const ends = yield* buyTogether(till, [
    images(free, 1),
    images(account, 2),
    images(other, 2),
    images(third, 4),
    images(account, 1),
    images(free, 3)
  ])
  const expected = ["taken", null, "taken", "taken", "taken", "taken"]
  for (const [index, end] of ends.entries()) {
    const line = expected[index]
    if (line != null) note(till, "F4", `the order ${index}`, line, lineOfEnd(end))
    else note(till, "F4", `the order ${index}`, "Refused", end._tag)
  }
  const ofSmall = yield* readBudget(till, account, small.id)
  note(till, "F5", "the small budget", budgetLine(image, image), ofSmall)
  const ofLarge = yield* readBudget(till, account, large.id)
  note(till, "F5", "the large budget", budgetLine(3n * image, 2n * image), ofLarge)
})

/** What is held of the pool and of budgets, while an order is open. */
const holds: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 5n * unit)
  const seconds = 4
  const held = BigInt(seconds) * SECOND_NANO
  const open = yield* buy(till, slowVideo(account, seconds))
  if (open._tag === "Refused" || open.taskId === null) return yield* new Unclear()
  const free = 5n * unit - held
  const looks = Effect.gen(function* () {
    note(till, "F2", "while it is open", poolLine(5n * unit, held), yield* readPool(till, account))
    const scope = yield* drawOf(scopes)
    const amount = held + image
    const { id, line } = yield* openBudget(till, account, { scope, period: "total", amount })
    note(till, "F5", "a new budget", budgetLine(amount, 0n, held), line)
    const withdrawal = { kind: "withdrawal", reference: "a" } as const
    const above = free + 1n
    yield* adjust(
      till,
      account,
      "what is held",
      { ...withdrawal, amount: above },
      shortOf(above, free)
    )
    yield* adjust(
      till,
      account,
      "all but it",
      { ...withdrawal, amount: free - image },
      done(held + image)
    )
    const over = overBudget(id, amount, held, 2n * image)
    yield* expectEnd(till, "F4", "beside what is held", images(account, 2), over)
    yield* expectEnd(till, "F3", "the last of it", images(account, 1), "taken")
    yield* readPool(till, account)
    return { id, amount }
  })
  const { id, amount } = yield* whileOpen(till, account, open.taskId, looks)
  yield* awaitEnd(till, account, open.taskId)
  const budget = yield* readBudget(till, account, id)
  const pool = yield* readPool(till, account)
  const isCharged = pool === poolLine(0n)
  note(till, "F2", "in the end", poolLine(isCharged ? 0n : held), pool)
  note(till, "F5", "in the end", budgetLine(amount, image + (isCharged ? held : 0n)), budget)
})

const Task = bodyOf(Schema.Struct({ task_status: Schema.String }))
const LOOK = "1 second"
const MAX_LOOKS = 20

const awaitEnd = Effect.fnUntraced(function* (till: Till, { key }: Account, taskId: string) {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const task = Task(yield* demand(till, `/videos/${taskId}`, { key }))
    if (task !== null && task.task_status !== "processing") return
    yield* Effect.sleep(LOOK)
  }
  return yield* new Unclear()
})

/** Credit, which holds may use only where it is said so. */
const credits: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, image)
  const set = (json: object) =>
    demand(till, `/organizations/${account.organizationId}`, { method: "PATCH", json })
  yield* set({ credit: formatNano(2n * image) })
  yield* expectEnd(till, "F3", "no hold on credit", images(account, 2), shortOf(2n * image, image))
  yield* set({ holds_on_credit: true })
  yield* expectEnd(till, "F3", "all of it", images(account, 4), shortOf(4n * image, 3n * image))
  yield* expectEnd(till, "F3", "a part on credit", images(account, 2), "taken")
  yield* adjust(
    till,
    account,
    "a withdrawal on credit",
    { kind: "withdrawal", amount: 1n, reference: "a" },
    shortOf(1n, -image)
  )
  yield* expectEnd(till, "F3", "the last of the credit", images(account, 1), "taken")
  yield* expectEnd(till, "F3", "beyond the credit", images(account, 1), shortOf(image, 0n))
  yield* set({ credit: formatNano(image) })
  yield* expectEnd(till, "F3", "less credit", images(account, 1), shortOf(image, -image))
  const pool = yield* readPool(till, account)
  note(till, "F2", "on credit", poolLine(-2n * image, 0n, image), pool)
})

/** A film whose vendor may charge more than it holds, and which fails in the end. */
const film = (account: Account, holdNano: bigint) => ({
  account,
  model: "film-1",
  kind: "video" as const,
  units: 5,
  words: "sim:slow=8 sim:fail",
  video: "https://files.example/in.mp4",
  holdNano
})

const nanoOf = (decimal: string): bigint => {
  const [whole = "0", fraction = ""] = decimal.split(".")
  return BigInt(whole) * unit + BigInt(fraction.padEnd(9, "0"))
}

/** Orders that may come to more than they hold bound what other orders may take. */
const exposures: Part = Effect.fnUntraced(function* (till) {
  const rich = yield* openAccount(till, 1000n * unit)
  const bare = film(rich, 0n)
  const json = {
    model: bare.model,
    prompt: "a film",
    duration: bare.units,
    resolution: "720p",
    video_url: bare.video
  }
  const quoted = { key: rich.key, json }
  const hold = nanoOf(yield* fieldOf(till, "hold", "/quotes", quoted))
  const exposure = nanoOf(yield* fieldOf(till, "exposure", "/quotes", quoted))
  const excess = exposure - hold
  const account = yield* openAccount(till, hold + excess + image)
  const exact = yield* openAccount(till, image)
  // The first orders are a batch of their own, in which the gateway does not wait for the films.
  const others = Array.from({ length: 3 }, () => images(rich, 1))
  const both = [film(account, hold), film(account, hold)]
  const films = (yield* buyTogether(till, [...others, ...both])).slice(others.length)
  note(till, "F6", "of two films at a time", "1 taken", `${takenOf(films)} taken`)
  expectRefusals(till, "F6", "the other film", films, shortOf(hold, image))
  const taken = films.find((end) => end._tag === "Taken")
  if (taken?._tag !== "Taken" || taken.taskId === null) return yield* new Unclear()
  const looks = Effect.gen(function* () {
    const over = shortOf(2n * image, image)
    yield* expectEnd(till, "F6", "what it may come to", images(account, 2), over)
    yield* expectEnd(till, "F6", "all that is left", images(account, 1), "taken")
    const json = { credit: formatNano(2n * image) }
    yield* demand(till, `/organizations/${account.organizationId}`, { method: "PATCH", json })
    yield* expectEnd(till, "F6", "all of the credit", images(account, 2), "taken")
    yield* deposit(till, account.organizationId, hold, "a second film")
    // A film counts by its hold until it is taken itself.
    yield* expectEnd(till, "F6", "a second film", film(account, hold), "taken")
    yield* expectEnd(till, "F6", "beside two", images(account, 1), shortOf(image, -excess))
  })
  yield* whileOpen(till, account, taken.taskId, looks)
  const [bought] = yield* buyTogether(till, [film(rich, hold)])
  if (bought?._tag !== "Taken" || bought.taskId === null) return yield* new Unclear()
  const beside = Effect.gen(function* () {
    const ends = yield* buyTogether(till, [images(rich, 1), images(exact, 1), images(rich, 2)])
    for (const end of ends) note(till, "F6", "beside others", "taken", lineOfEnd(end))
  })
  yield* whileOpen(till, rich, bought.taskId, beside)
})

const Deliveries = bodyOf(
  Schema.Struct({ data: Schema.Array(Schema.Struct({ type: Schema.String })) })
)
const Endpoint = bodyOf(Schema.Struct({ id: Schema.String }))

/** Where nobody listens: what was told is read from the list of deliveries. */
const NOBODY = "http://127.0.0.1:9/"

const percents: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 100n * unit)
  const { organizationId } = account
  const made = Endpoint(
    yield* demand(till, "/webhook_endpoints", {
      json: {
        organization_id: organizationId,
        name: "finance",
        url: NOBODY,
        event_types: ["budget.threshold"]
      }
    })
  )
  if (made === null) return yield* new Unclear()
  const expectTold = Effect.fnUntraced(function* (what: string, count: number) {
    const answer = yield* demand(till, `/webhook_endpoints/${made.id}/deliveries?limit=50`)
    const told = Deliveries(answer)?.data.length
    note(till, "F7", what, `${count} told`, isDone(answer) ? `${told} told` : lineOf(answer, []))
  })
  const scope = yield* drawOf(scopes)
  const thresholds = [50, 80, 100]
  const amount = 4n * image
  const { id } = yield* openBudget(till, account, { scope, period: "month", amount, thresholds })
  const order = (units: number, expected = "taken") =>
    expectEnd(till, "F4", "within percents", images(account, units), expected)
  yield* order(1)
  yield* expectTold("below all", 0)
  yield* order(1)
  yield* expectTold("half of it", 1)
  yield* order(1)
  yield* expectTold("still half of it", 1)
  if (yield* drawOf([true, false])) {
    // A lower amount reaches a percent by itself.
    yield* changeBudget(till, organizationId, id, 3n * image + image / 2n)
    yield* expectTold("by a change", 2)
    yield* changeBudget(till, organizationId, id, 100n * image)
    yield* order(1)
    yield* expectTold("of a large budget", 2)
  } else {
    yield* order(2, overBudget(id, amount, 3n * image, 2n * image))
    yield* expectTold("by a refusal", 3)
    yield* order(1)
    yield* expectTold("all of it", 3)
  }
})

const DAY_MILLIS = 24 * 3_600_000
/** The time before midnight from which on the desk waits for the next day. */
const NEAR_MILLIS = 60_000

const untilMidnight = Effect.map(Clock.currentTimeMillis, (now) => DAY_MILLIS - (now % DAY_MILLIS))

const isFirstOfMonth = Effect.map(
  Clock.currentTimeMillis,
  (now) => new Date(now).getUTCDate() === 1
)

/** Budgets over the end of a day, which begins again then. */
const midnight: Part = Effect.fnUntraced(function* (till) {
  const account = yield* openAccount(till, 100n * unit)
  yield* expectEnd(till, "F3", "before midnight", images(account, 1), "taken")
  const scope = yield* drawOf(scopes)
  const day = { scope, period: "day", amount: 3n * image } as const
  const month = { scope, period: "month", amount: 4n * image } as const
  const ofDay = yield* openBudget(till, account, day)
  const ofMonth = yield* openBudget(till, account, month)
  const left = yield* untilMidnight
  if (left > NEAR_MILLIS) return yield* new Unclear()
  note(till, "F5", "of the day", budgetLine(day.amount, image), ofDay.line)
  note(till, "F5", "of the month", budgetLine(month.amount, image), ofMonth.line)
  yield* Effect.sleep(`${left + 100} millis`)
  yield* expectEnd(till, "F4", "a new day", images(account, 3), "taken")
  const over = overBudget(ofDay.id, day.amount, 3n * image, image)
  yield* expectEnd(till, "F4", "above the new day", images(account, 1), over)
  const old = (yield* isFirstOfMonth) ? 0n : image
  const dayNow = yield* readBudget(till, account, ofDay.id)
  note(till, "F5", "of the next day", budgetLine(day.amount, 3n * image), dayNow)
  const monthNow = yield* readBudget(till, account, ofMonth.id)
  note(till, "F5", "of the month by then", budgetLine(month.amount, 3n * image + old), monthNow)
  const { line } = yield* openBudget(till, account, { ...day, amount: unit })
  note(till, "F5", "a budget of the next day", budgetLine(unit, 3n * image), line)
})

/** Whether midnight is so near that a part could not know which day its orders are of. */
export const isNearMidnight = Effect.map(untilMidnight, (left) => left < NEAR_MILLIS)

export const midnightPart: readonly [string, Part] = ["midnight", midnight]

/** The parts that may be done at any time of the day, by their names. */
export const parts: ReadonlyArray<readonly [string, Part]> = [
  ["transfers", transfers],
  ["corrections", corrections],
  ["balances", balances],
  ["one budget", oneBudget],
  ["many budgets", manyBudgets],
  ["caps", caps],
  ["together", together],
  ["holds", holds],
  ["credits", credits],
  ["exposures", exposures],
  ["percents", percents]
]
