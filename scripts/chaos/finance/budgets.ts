/** The parts of the finance desk's work about budgets. */
import { Clock, Effect, Schema } from "effect"
import { formatNano, NANO_PER_UNIT } from "../../../src/domain/money/Money.ts"
import { bodyOf } from "../http.ts"
import { expectRefusals, type Part, periods, scopes, takenOf } from "./steps.ts"
import {
  budgetLine,
  buyTogether,
  changeBudget,
  demand,
  drawOf,
  expectEnd,
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
  readBudget,
  Unclear
} from "./till.ts"

const unit = NANO_PER_UNIT
const image = IMAGE_NANO

/** One budget, used to the last unit by orders one after the other and at a time. */
export const oneBudget: Part = Effect.fnUntraced(function* (till) {
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
export const manyBudgets: Part = Effect.fnUntraced(function* (till) {
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
export const caps: Part = Effect.fnUntraced(function* (till) {
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
export const together: Part = Effect.fnUntraced(function* (till) {
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

const Deliveries = bodyOf(
  Schema.Struct({ data: Schema.Array(Schema.Struct({ type: Schema.String })) })
)
const Endpoint = bodyOf(Schema.Struct({ id: Schema.String }))

/** An address without a server: what was sent is read from the list of deliveries. */
const NOBODY = "http://127.0.0.1:9/"

export const percents: Part = Effect.fnUntraced(function* (till) {
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
export const midnight: Part = Effect.fnUntraced(function* (till) {
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
