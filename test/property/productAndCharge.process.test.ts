/**
 * A vendor that answers anything: whatever it says, and however, product and charge go together.
 * PROPERTY_CASES sets how many orders, PROPERTY_SEED repeats a run; the case of a seed is the first
 * one of its run. KIND draws orders of one kind alone.
 */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Equal, Layer, Logger } from "effect"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorLimits } from "../../src/adapters/wire/limits.ts"
import { layerVendorWire } from "../../src/adapters/wire/VendorWire.ts"
import { layerSecureRandom } from "../../src/crypto.ts"
import { seedOfDay } from "../support/day.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { diceOf } from "../support/randomOrders.ts"
import { type Case, classesOf, faultsOf, productIn, type Rule } from "./judge.ts"
import { catalogAt, LANES, makeOrders, PRICES, settings, Vendor } from "./orders.ts"
import { describe, drawPlan, KIND, type Plan, smaller, traitsOf } from "./plans.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 300)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

/** Ways told of each broken rule, at most. */
const TOLD_PER_RULE = 8
/** Orders sent again to find the least forms, of all rules together. */
const SHRINKING_ORDERS = 600

/** A run without some of each would prove little. */
const ofEveryKind = ["delivered", "charged", "orphaned", "repeated and not sent again"]
const ofAllKinds = [
  ...ofEveryKind,
  "refused",
  "streamed and charged",
  "image charged",
  "video charged",
  "chat charged",
  "embedding charged",
  "rerank charged",
  "speech charged",
  "transcription charged"
]
const expected = KIND === null ? ofAllKinds : [...ofEveryKind, `${KIND} charged`]

const isOfAgents = (kind: Plan["kind"]): kind is "image" | "video" =>
  kind === "image" || kind === "video"

/** What an order comes to, whichever way it was sent. */
const resultOf = ({ mark, rounds: [round] }: Case) => ({
  charge: round.charge,
  orphans: round.orphans,
  orders: round.orders,
  held: round.held,
  hasProduct: round.answers.some((answer) => productIn(answer, mark).size > 0)
})

interface Drawn {
  readonly plan: Plan
  readonly seed: number
}

const seconds = (count: number) => Duration.seconds(count)
const MEBIBYTE = 1024 * 1024
const limits = Layer.succeed(VendorLimits, {
  submit: { timeout: seconds(1), maxBytes: 4 * MEBIBYTE, longTextBytes: 64 * 1024 },
  poll: { timeout: seconds(0.5), maxBytes: 4 * MEBIBYTE, longTextBytes: 64 * 1024 },
  pollInterval: seconds(2),
  image: { timeout: seconds(2.5), maxBytes: 16 * MEBIBYTE },
  imageStream: {
    firstBytesTimeout: seconds(1),
    idleTimeout: seconds(0.7),
    timeout: seconds(2.5),
    maxBytes: 16 * MEBIBYTE
  },
  text: { timeout: seconds(1), maxBytes: 16 * MEBIBYTE, values: 1_000_000 },
  stream: {
    firstBytesTimeout: seconds(1),
    idleTimeout: seconds(0.7),
    timeout: seconds(3),
    maxBytes: 16 * MEBIBYTE
  }
})

/** How a broken rule is told: its least plan, what the client got, and what the books say. */
const told = ({ plan, mark, rounds }: Case, seed: number): string =>
  [
    `PROPERTY_SEED=${seed} PROPERTY_CASES=1`,
    describe(plan),
    ...rounds.map(({ answers, charge, orphans, orders, held }) => {
      const got = answers.map(({ status, headers, body, isWhole }) => {
        const said = /^(?:x-should-retry|idempotency-replayed).*$/gm
        const text = body.toString().replaceAll(mark.text, "<MARK>")
        const shown = text.length > 300 ? `${text.slice(0, 300)}... (${text.length})` : text
        return `${status}${isWhole ? "" : " CUT"} ${(headers.match(said) ?? []).join(" ")} ${shown}`
      })
      return `  vendor had ${orders} orders; charged ${charge}, orphans ${orphans}, held ${held}; client got ${got.join(" | ")}`
    })
  ].join("\n")

const layerVendorGateway = Layer.unwrap(
  Effect.map(Vendor, ({ url }) =>
    layerTestGateway("postgres", settings, {
      catalogFor: () => catalogAt(url),
      adapters: layerAdapters.pipe(
        Layer.provide([layerVendorWire, limits]),
        Layer.provide(layerSecureRandom)
      )
    }).pipe(Layer.provide(Logger.layer([])))
  )
).pipe(Layer.provideMerge(Vendor.layer))

layer(layerVendorGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "a vendor that answers anything",
  (it) => {
    it.effect(
      `product and charge go together (PROPERTY_SEED=${SEED})`,
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { run, listedOrphans } = yield* makeOrders
          const counts = new Map<string, number>()
          const broken = new Map<Rule, Array<Drawn>>()
          const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
          let orphans = 0
          let left = SHRINKING_ORDERS

          const judged = Effect.fnUntraced(function* (plan: Plan, seed: number) {
            const one = yield* run(plan, diceOf(seed + 1))
            orphans += one.rounds.reduce((sum, round) => sum + round.orphans, 0)
            return { one, faults: faultsOf(one, PRICES) }
          })

          /** Takes strange choices back for as long as the rule stays broken. */
          const shrunk = Effect.fnUntraced(function* (rule: Rule, { plan, seed }: Drawn) {
            let least = plan
            for (; left > 0; ) {
              left -= smaller(least).length
              const tried = yield* Effect.forEach(
                smaller(least),
                (candidate) => judged(candidate, seed),
                { concurrency: LANES }
              )
              const next = tried.find(({ faults }) => faults.includes(rule))
              if (next === undefined) break
              least = next.one.plan
            }
            return (yield* judged(least, seed)).one
          })

          yield* Effect.forEach(
            Array.from({ length: CASES }, (_, index) => SEED + index),
            Effect.fnUntraced(function* (seed) {
              const plan = drawPlan(diceOf(seed))
              const { one, faults } = yield* judged(plan, seed)
              for (const name of classesOf(one)) count(name)
              for (const rule of faults) {
                const list = broken.get(rule) ?? []
                broken.set(rule, [...list, { plan, seed }])
              }
            }),
            { concurrency: LANES, discard: true }
          )
          const brokenTimes = [...broken].map(([rule, list]) => [rule, list.length] as const)
          yield* Effect.logInfo(
            `of ${CASES} orders: ${JSON.stringify(Object.fromEntries(counts))}; broken rules: ${JSON.stringify(Object.fromEntries(brokenTimes))}`
          )

          /** What breaks a rule, each way in its least form; what has such a form in it is explained. */
          const reported = Effect.fnUntraced(function* (rule: Rule, list: ReadonlyArray<Drawn>) {
            const forms: Array<{ readonly traits: ReadonlySet<string>; readonly text: string }> = []
            const fewestFirst = list
              .map((drawn) => ({ drawn, traits: traitsOf(drawn.plan) }))
              .toSorted((a, b) => a.traits.size - b.traits.size)
            for (const { drawn, traits } of fewestFirst) {
              if (forms.length === TOLD_PER_RULE) break
              if (forms.some((form) => [...form.traits].every((trait) => traits.has(trait))))
                continue
              const one = yield* shrunk(rule, drawn)
              forms.push({ traits: traitsOf(one.plan), text: told(one, drawn.seed) })
            }
            return forms.map(({ text }) => `${rule} (${list.length} of ${CASES}): ${text}`)
          })
          const reports = (yield* Effect.forEach(broken, ([rule, list]) => reported(rule, list), {
            concurrency: "unbounded"
          })).flat()
          if (reports.length > 0) assert.fail(`\n\n${reports.join("\n\n")}\n\n`)

          assert.strictEqual(yield* listedOrphans, orphans)
          yield* gateway.verify
          for (const name of expected) {
            assert.isAtLeast(
              counts.get(name) ?? 0,
              Math.floor(CASES / 200),
              `${name} hardly occurs`
            )
          }
        }),
      120_000 + CASES * 100
    )

    it.effect(
      `an agent's order comes to what the same order over HTTP comes to (PROPERTY_SEED=${SEED})`,
      () =>
        Effect.gen(function* () {
          const { run, runByAgent } = yield* makeOrders
          const agentPlans = Array.from({ length: CASES }, (_, index) => SEED + index).flatMap(
            (seed) => {
              const plan = drawPlan(diceOf(seed))
              return isOfAgents(plan.kind) && !plan.streamed
                ? [{ seed, kind: plan.kind, plan: { ...plan, repeated: false } }]
                : []
            }
          )
          const charges = yield* Effect.forEach(
            agentPlans,
            Effect.fnUntraced(function* ({ seed, kind, plan }) {
              const compare = Effect.gen(function* () {
                const direct = resultOf(yield* run(plan, diceOf(seed + 1)))
                const byAgent = resultOf(yield* runByAgent(plan, diceOf(seed + 1), kind))
                return { direct, byAgent }
              })
              // A deadline decides some orders, on a busy machine otherwise than on an idle one.
              const { direct, byAgent } = yield* Effect.repeat(compare, {
                until: (both) => Equal.equals(both.direct, both.byAgent),
                times: 3
              })
              assert.deepStrictEqual(
                byAgent,
                direct,
                `PROPERTY_SEED=${seed} PROPERTY_CASES=1\n${describe(plan)}`
              )
              return direct.charge
            }),
            { concurrency: LANES / 2 }
          )
          if (KIND === null) assert.isTrue(charges.some((charge) => charge > 0n))
        }),
      120_000 + CASES * 100
    )
  }
)
