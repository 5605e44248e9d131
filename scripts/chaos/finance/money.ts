/** The parts of the finance desk's work about transfers, balances, credit and exposures. */
import { Effect, Schema } from "effect"
import { formatNano, NANO_PER_UNIT } from "../../../src/domain/money/Money.ts"
import { bodyOf } from "../http.ts"
import {
  type Adjustment,
  adjust,
  again,
  done,
  expectRefusals,
  type Part,
  scopes,
  takenOf
} from "./steps.ts"
import {
  type Account,
  budgetLine,
  buy,
  buyTogether,
  demand,
  deposit,
  drawOf,
  expectEnd,
  fieldOf,
  IMAGE_NANO,
  images,
  lineOf,
  lineOfEnd,
  note,
  openAccount,
  openBudget,
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

const unit = NANO_PER_UNIT
const image = IMAGE_NANO

export const transfers: Part = Effect.fnUntraced(function* (till) {
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

export const corrections: Part = Effect.fnUntraced(function* (till) {
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

export const balances: Part = Effect.fnUntraced(function* (till) {
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

/** What is held of the pool and of budgets, while an order is open. */
export const holds: Part = Effect.fnUntraced(function* (till) {
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
export const credits: Part = Effect.fnUntraced(function* (till) {
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
export const exposures: Part = Effect.fnUntraced(function* (till) {
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
