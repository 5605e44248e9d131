/**
 * Orders every length in every resolution of a form, all at once, and follows each order from its
 * answer over its hold and the vendor's view of it to its charge.
 */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TaskRepo } from "../../../src/services/TaskRepo.ts"
import type { BookEntry } from "../../../src/simulator/Simulator.ts"
import { sumOf, toDecimal, toNano } from "../amounts.ts"
import type { DatabaseKind } from "../databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway, quickSettings } from "../gateway.ts"
import type { HttpAnswer } from "../http.ts"
import { protocolCatalog } from "../protocolCatalog.ts"
import type { Form, Subject, Wish } from "./Subject.ts"
import type { Tier } from "./tariffs.ts"

const DEPOSIT = "100000"

/** Nobody is asked before the test says so, so that holds can be read while they are open. */
const pausedSettings = {
  ...quickSettings,
  askIntervalSeconds: 3600,
  maxAskIntervalSeconds: 3600
}

const resolutions = ["480p", "540p", "720p", "1080p", "4K", "8K"]
const respelled = resolutions.map((name) =>
  name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
)
const tierNames: ReadonlyArray<string> = ["480p", "540p", "720p", "1080p", "4k"] satisfies Tier[]
const isTier = (name: string): name is Tier => tierNames.includes(name)

interface Order {
  readonly prompt: string
  readonly duration: number | undefined
  readonly resolution: string | undefined
}

const ordersOf = ({ seconds: { least, inside, most } }: Subject): ReadonlyArray<Order> => {
  const durations = [...new Set([least - 1, least, inside, most, most + 1, -1])]
  // How a resolution is spelled has nothing to do with the length.
  const wished = durations.flatMap((duration) =>
    (duration === inside ? [...resolutions, ...respelled] : resolutions).map((resolution) => ({
      duration,
      resolution
    }))
  )
  return [...wished, { duration: undefined, resolution: undefined }].map((order, index) => ({
    ...order,
    // Ends at the first question, whenever that comes.
    prompt: `order ${index} sim:slow=0`
  }))
}

type Expected =
  | { readonly _tag: "Refused"; readonly param: "duration" | "resolution" }
  | { readonly _tag: "Sent"; readonly wish: Wish }

const expectedOf = ({ seconds, tiers }: Subject, order: Order): Expected => {
  const { duration = 5, resolution = "720p", prompt } = order
  const inRange = duration >= seconds.least && duration <= seconds.most
  if (!inRange && !(duration === -1 && seconds.smart)) return { _tag: "Refused", param: "duration" }
  const name = tiers === null ? "720p" : resolution.toLowerCase()
  return isTier(name) && (tiers === null || tiers.includes(name))
    ? { _tag: "Sent", wish: { prompt, seconds: duration, tier: name, task: "<task>" } }
    : { _tag: "Refused", param: "resolution" }
}

const Accepted = Schema.Struct({ id: Schema.String, task_status: Schema.Literal("processing") })
const isNamingField = Schema.is(Schema.Struct({ error: Schema.Struct({ param: Schema.String }) }))

/** The field that a vendor's error names. */
const vendorsParam = (body: unknown): string | null =>
  isNamingField(body) ? body.error.param : null

const Refused = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    type: Schema.String,
    param: Schema.NullOr(Schema.String),
    upstream: Schema.optionalKey(Schema.Unknown)
  })
})
const page = <Row extends Schema.Top>(row: Row) =>
  Schema.Struct({ data: Schema.Array(row), has_more: Schema.Boolean })
const Movement = Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  amount: Schema.String,
  hold_id: Schema.NullOr(Schema.String)
})
const Usage = Schema.Struct({
  id: Schema.String,
  task_id: Schema.NullOr(Schema.String),
  charge: Schema.String,
  basis: Schema.String
})

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/** The same JSON with ids that nobody can foresee replaced. */
const masked = (value: unknown, pattern: string, by: string): unknown =>
  JSON.parse(JSON.stringify(value).replace(new RegExp(pattern, "g"), by))
const maskIds = (value: unknown): unknown => masked(value, UUID, "<id>")

/** Every page of a list, newest first. */
const readAll = Effect.fnUntraced(function* <
  Row extends Schema.Codec<{ readonly id: string }, unknown>
>(read: (query: string) => Effect.Effect<HttpAnswer>, row: Row) {
  const rows: Array<Row["Type"]> = []
  for (let more = true; more; ) {
    const last = rows.at(-1)
    const query = `?limit=100${last === undefined ? "" : `&after=${last.id}`}`
    const answer = yield* bodyAs(page(row), yield* read(query))
    rows.push(...answer.data)
    more = answer.has_more
  }
  return rows
})

/** What the vendor rendered of the order with this prompt. */
const renderedSeconds = (book: ReadonlyArray<BookEntry>, prompt: string): number | null => {
  const digest = createHash("sha256").update(prompt).digest("hex")
  const accepted = book.findLast(
    (entry) => entry.event === "accepted" && entry.order.prompt_sha256 === digest
  )
  const ended = book.find(
    (entry) => entry.event === "succeeded" && entry.upstream_id === accepted?.upstream_id
  )
  return ended?.event === "succeeded" ? ended.produced.seconds : null
}

/** Answers as they must be; gives the wishes that became tasks, by task id. */
const checkAnswers = Effect.fnUntraced(function* (
  subject: Subject,
  form: Form,
  answers: ReadonlyArray<readonly [Order, HttpAnswer]>
) {
  const accepted = new Map<string, Wish>()
  const sent: Array<Wish> = []
  for (const [order, answer] of answers) {
    const expected = expectedOf(subject, order)
    const label = `${JSON.stringify(order)}: ${answer.text}`
    if (expected._tag === "Refused") {
      const { error } = yield* bodyAs(Refused, answer)
      assert.strictEqual(answer.status, 400, label)
      const { param } = expected
      const type = "invalid_request_error"
      assert.deepStrictEqual(error, { code: "video_sku_invalid", type, param }, label)
      continue
    }
    const { wish } = expected
    if (form.path !== null && form.unsent?.(wish) !== true) sent.push(wish)
    const body = form.refusal?.(wish)
    if (body === undefined) {
      assert.strictEqual(answer.status, 200, label)
      accepted.set((yield* bodyAs(Accepted, answer)).id, wish)
      continue
    }
    assert.strictEqual(answer.status, 400, label)
    const { error } = yield* bodyAs(Refused, answer)
    const param = vendorsParam(body)
    assert.deepInclude(error, { code: "upstream_error", type: "upstream_error", param }, label)
    assert.deepStrictEqual(maskIds(error.upstream), { status: 400, body }, label)
  }
  return { accepted, sent }
})

const promptOf = (value: unknown): string =>
  /order \d+ sim:slow=0/.exec(JSON.stringify(value))?.[0] ?? "no prompt of this table"

/** The vendor saw what was to be sent, once each, with the id of the task that came of it. */
const checkRequests = Effect.fnUntraced(function* (
  { protocol }: Subject,
  form: Form,
  sent: ReadonlyArray<Wish>,
  accepted: ReadonlyMap<string, Wish>
) {
  const { simulator } = yield* Gateway
  const taskOf = new Map([...accepted].map(([id, { prompt }]) => [prompt, id]))
  const requests = yield* simulator.requests
  assert.strictEqual(requests.length, sent.length, "requests to the vendor")
  const seen = new Map(
    requests.map(({ method, path, body }) => {
      const prompt = promptOf(body)
      const task = taskOf.get(prompt) ?? `vt_${UUID}`
      return [prompt, { method, path, body: masked(body, task, "<task>") }]
    })
  )
  for (const wish of sent) {
    const path = `/${protocol}${form.path}`
    const expected = { method: "POST", path, body: form.body(wish) }
    assert.deepStrictEqual(seen.get(wish.prompt), expected)
  }
})

const checkHolds = Effect.fnUntraced(function* (
  { tariff, seconds }: Subject,
  form: Form,
  who: Customer,
  accepted: ReadonlyMap<string, Wish>
) {
  const gateway = yield* Gateway
  const path = `/organizations/${who.organizationId}/ledger`
  const movements = yield* readAll((query) => gateway.admin(`${path}${query}`), Movement)
  const released = new Set(
    movements.filter(({ kind }) => kind === "release").map(({ hold_id }) => hold_id)
  )
  const open = movements.filter(({ kind, hold_id }) => kind === "hold" && !released.has(hold_id))
  assert.strictEqual(open.length, accepted.size)
  for (const { hold_id, amount } of open) {
    const wish = accepted.get(hold_id ?? "")
    assert.isDefined(wish, `a hold of ${amount} nobody ordered`)
    const prepaid = wish.seconds === -1 && seconds.smart ? 15 : wish.seconds
    const order = { seconds: prepaid, tier: wish.tier, withVideo: form.withVideo ?? false }
    assert.strictEqual(amount, toDecimal(tariff.holdNano(order)), JSON.stringify(wish))
  }
  const held = toDecimal(sumOf(open.map(({ amount }) => toNano(amount))))
  assert.deepInclude(yield* gateway.balance(who), { balance: DEPOSIT, held })
})

const checkCharges = Effect.fnUntraced(function* (
  { tariff }: Subject,
  form: Form,
  who: Customer,
  accepted: ReadonlyMap<string, Wish>
) {
  const gateway = yield* Gateway
  const read = (query: string) => gateway.call(`/v1/usage${query}`, { key: who.key })
  const charges = yield* readAll(read, Usage)
  const book = yield* gateway.simulator.book
  assert.strictEqual(charges.length, accepted.size)
  for (const { task_id, charge, basis } of charges) {
    const wish = accepted.get(task_id ?? "")
    assert.isDefined(wish, `a charge of ${charge} nobody ordered`)
    const seconds = wish.seconds === -1 ? renderedSeconds(book, wish.prompt) : wish.seconds
    assert.isNotNull(seconds)
    const order = { seconds, tier: wish.tier, withVideo: form.withVideo ?? false }
    assert.strictEqual(charge, toDecimal(tariff.chargeNano(order)), JSON.stringify(wish))
    assert.strictEqual(basis, tariff.basis)
  }
  const charged = sumOf(charges.map(({ charge }) => toNano(charge)))
  assert.deepInclude(yield* gateway.balance(who), {
    balance: toDecimal(toNano(DEPOSIT) - charged),
    held: "0"
  })
})

const finishAll = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  yield* (yield* TaskRepo).takeOver
  yield* gateway
    .balance(who)
    .pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: ({ held }) => held === "0" }),
      Effect.timeout("30 seconds")
    )
})

/** One case for every form of every subject, on a gateway of its own. */
export const orderTable = (
  name: string,
  kind: DatabaseKind,
  subjects: ReadonlyArray<Subject>
): void => {
  const cases = subjects.flatMap((subject) =>
    subject.forms.map((form) => [`${subject.says}, ${form.says}`, subject, form] as const)
  )
  layer(layerTestGateway(kind, pausedSettings, { catalogFor: protocolCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`${name} (${kind})`, (it) => {
    it.effect.each(cases)(
      "%s: every length and resolution is answered, held, sent and charged as it should",
      ([, subject, form]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer(DEPOSIT)
          yield* gateway.simulator.clearRequests
          const answers = yield* Effect.forEach(
            ordersOf(subject),
            (order) =>
              Effect.map(
                gateway.call("/v1/videos/generations", {
                  key: who.key,
                  json: { model: subject.model, ...order, ...form.input }
                }),
                (answer) => [order, answer] as const
              ),
            { concurrency: "unbounded" }
          )
          const { accepted, sent } = yield* checkAnswers(subject, form, answers)
          yield* checkHolds(subject, form, who, accepted)
          yield* checkRequests(subject, form, sent, accepted)
          yield* finishAll(who)
          yield* checkCharges(subject, form, who, accepted)
          yield* gateway.verify
        })
    )
  })
}
