/** The judges of the chaos run: sound books pass, and each kind of broken ones is seen. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import type { Books } from "../../scripts/chaos/books.ts"
import { judgeAnswers } from "../../scripts/chaos/judges/answers.ts"
import { judgeImages } from "../../scripts/chaos/judges/images.ts"
import { judgeLedger } from "../../scripts/chaos/judges/ledger.ts"
import { pairUp } from "../../scripts/chaos/judges/matching.ts"
import { judgeRefunds } from "../../scripts/chaos/judges/refunds.ts"
import { judgeRepeats, judgeVideos } from "../../scripts/chaos/judges/vendors.ts"
import { defaultOptions } from "../../scripts/chaos/options.ts"
import { makeSchedule } from "../../scripts/chaos/schedule.ts"
import { makeWitness, type Outcome } from "../../scripts/chaos/witness.ts"
import {
  clip,
  imageHold,
  jobOf,
  paint,
  sound,
  task,
  usageOf,
  videoHold
} from "../support/chaosBooks.ts"

const accepted = (taskId: string | null): Outcome => ({
  _tag: "Accepted",
  taskId,
  replayed: false,
  text: ""
})
const upstreamError: Outcome = { _tag: "Refused", status: 502, code: "upstream_error" }

/** The rules that are violated, when clients were answered so. */
const violated = (
  books: Partial<Books>,
  answers: { readonly video: Outcome; readonly image: Outcome } = {
    video: accepted("vt_1"),
    image: accepted(null)
  }
): ReadonlyArray<string> => {
  const witness = makeWitness("canary")
  const startedAt = Date.parse("2026-01-01T00:00:00Z")
  const sent = { gateway: "g", startedAt, endedAt: startedAt + 4000 }
  for (const order of [clip, paint]) witness.orders.set(order.promptDigest, order)
  witness.attempts.push({ ...sent, order: clip, outcome: answers.video })
  witness.attempts.push({ ...sent, order: paint, outcome: answers.image })
  const [organizationId, reference, amountNano] = ["org", "first", 10_000_000_000n]
  witness.deposits.push({ organizationId, reference, amountNano, acknowledged: true })
  const all = { ...sound, ...books }
  const verdicts = [
    ...judgeLedger(all),
    judgeRefunds(all, witness),
    ...judgeAnswers(all, witness),
    ...judgeImages(all, witness),
    ...judgeRepeats(all, witness, true),
    ...judgeVideos(all, witness)
  ]
  return [...new Set(verdicts.flatMap(({ id, violations }) => (violations.length > 0 ? [id] : [])))]
}

const [videoUsage, imageUsage] = sound.usage
const captures = sound.transfers.slice(1)
const [month] = sound.months
const given = <A>(value: A | undefined): ReadonlyArray<A> => (value === undefined ? [] : [value])

/** What is wrong with the books, and the rules that must say so. */
const broken: ReadonlyArray<readonly [string, Partial<Books>, ReadonlyArray<string>]> = [
  [
    "lost money",
    { pools: [{ organization_id: "org", balance: 1n, held: 0n, highest_overdraft: 0n }] },
    ["I1"]
  ],
  ["a lost deposit", { transfers: captures }, ["I1", "I8"]],
  ["a doubled capture", { transfers: [...sound.transfers, ...captures] }, ["I1", "I4"]],
  [
    "money that stays held",
    {
      pools: [{ organization_id: "org", balance: 6_000_000_000n, held: 1n, highest_overdraft: 0n }]
    },
    ["I2"]
  ],
  [
    "a month without its charges",
    { months: given(month).map((one) => ({ ...one, captured: 0n })) },
    ["I3"]
  ],
  ["a charge without a record", { usage: given(videoUsage) }, ["I4"]],
  [
    "a hold that was not returned",
    { holds: [videoHold, { ...imageHold, state: "open" }] },
    ["I2", "refund", "I8", "I10"]
  ],
  ["a task that still runs", { tasks: [{ ...task, state: "processing" }] }, ["I7", "I8", "I10"]],
  ["a task that was answered and is gone", { tasks: [] }, ["I8", "I10"]],
  ["a video job nobody knows", { jobs: [...sound.jobs, jobOf(clip, "job-w")] }, ["I9", "I10"]],
  ["an image job nobody knows", { jobs: [...sound.jobs, jobOf(paint, "job-j")] }, ["I10", "I9"]],
  ["a charge without a job", { jobs: sound.jobs.slice(0, 1) }, ["I8", "I10"]],
  ["a wrong price", { usage: [...given(imageUsage), usageOf("vt_1", "clip-1", 1n)] }, ["I4", "I10"]]
]

describe("the judges of a chaos run", () => {
  it("find nothing in sound books", () => {
    assert.deepStrictEqual(violated({}), [])
  })

  it.each(broken)("see %s", (_, books, rules) => {
    assert.deepStrictEqual(violated(books), rules)
  })

  it("see a charge for which the client was told of an error", () => {
    const refused = { video: upstreamError, image: upstreamError }
    assert.deepStrictEqual(violated({}, refused), ["refund", "I10"])
  })
})

describe("pairing", () => {
  it("moves others to make room, and leaves out only who has nobody", () => {
    const candidates: Readonly<Record<string, ReadonlyArray<number>>> = {
      a: [1, 2],
      b: [1],
      c: [2, 3],
      d: [1, 2]
    }
    const pairs = pairUp(["a", "b", "c", "d"], (name) => candidates[name] ?? [])
    assert.strictEqual(pairs.size, 3)
    assert.strictEqual(new Set(pairs.values()).size, 3)
    for (const [name, number] of pairs) assert.include(candidates[name] ?? [], number)
  })
})

describe("the schedule of disasters", () => {
  const of = (seed: string, minutes: number) =>
    makeSchedule({ ...defaultOptions, seed, minutes }).pipe(Random.withSeed(seed))

  it.effect("is the same for the same seed, and another one for another", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* of("a", 2), yield* of("a", 2))
      assert.notDeepEqual(yield* of("a", 2), yield* of("b", 2))
    })
  )

  it.effect("has 200 gateway kills and 20 PostgreSQL kills in ten minutes", () =>
    Effect.gen(function* () {
      const kinds = (yield* of("a", 10)).map(({ disaster }) => disaster._tag)
      const count = (kind: string) => kinds.filter((one) => one === kind).length
      assert.isAtLeast(count("KillGateway"), 200)
      assert.isAtLeast(count("KillPostgres"), 20)
    })
  )
})
