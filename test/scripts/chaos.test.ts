/** The judges of the chaos run: sound books pass, and each kind of broken ones is seen. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import type { Books, Hold, Job, Task, Usage } from "../../scripts/chaos/books.ts"
import { judgeAnswers } from "../../scripts/chaos/judges/answers.ts"
import { judgeImages } from "../../scripts/chaos/judges/images.ts"
import { judgeLedger } from "../../scripts/chaos/judges/ledger.ts"
import { pairUp } from "../../scripts/chaos/judges/matching.ts"
import { judgeRefunds } from "../../scripts/chaos/judges/refunds.ts"
import { judgeRepeats, judgeVideos } from "../../scripts/chaos/judges/vendors.ts"
import { defaultOptions } from "../../scripts/chaos/options.ts"
import { makeSchedule } from "../../scripts/chaos/schedule.ts"
import { makeWitness, type Order, type Outcome } from "../../scripts/chaos/witness.ts"

const customer = { organizationId: "org", memberId: "mem", key: "mg_key" }

const orderOf = (kind: Order["kind"], idempotencyKey: string | null): Order => {
  const prompt = `a ${kind}`
  const promptDigest = createHash("sha256").update(prompt).digest("hex")
  const model = kind === "video" ? "clip-1" : "paint-1"
  return {
    id: kind,
    customer,
    model,
    kind,
    units: 5,
    prompt,
    promptDigest,
    json: {},
    idempotencyKey
  }
}
const clip = orderOf("video", "k")
const paint = orderOf("image", null)

const jobOf = (order: Order, id: string): Job => {
  const subject = { kind: order.kind, upstream_id: id, model: order.model, seq: 1 }
  const protocol = order.kind === "video" ? "vp_d" : "ip_a"
  return {
    accepted: {
      ...subject,
      protocol,
      event: "accepted",
      at: "2026-01-01T00:00:01.000Z",
      key_hint: "",
      client_token: null,
      switches: {},
      echo: {},
      order: {
        seconds: order.units,
        resolution: null,
        ratio: null,
        n: null,
        size: null,
        inputs: { images: 0, videos: 0, audios: 0 },
        generate_audio: null,
        prompt_sha256: order.promptDigest
      }
    },
    ended: {
      ...subject,
      protocol,
      event: "succeeded",
      at: "2026-01-01T00:00:02.000Z",
      reason: null,
      produced: { seconds: order.units, images: null, completion_tokens: null }
    }
  }
}

const own = { organization_id: "org", member_id: "mem" }
const holdOf = (id: string, upstreamModel: string, amount: bigint): Hold => ({
  ...own,
  id,
  amount,
  captured: amount,
  overage: 0n,
  state: "captured",
  month: "2026-01-01",
  upstream_model: upstreamModel,
  created_at: new Date("2026-01-01T00:00:00Z"),
  closed_at: new Date("2026-01-01T00:00:03Z"),
  closed_by: "poll"
})
const usageOf = (holdId: string, model: string, charge: bigint): Usage => ({
  ...own,
  hold_id: holdId,
  task_id: null,
  model,
  output: 5n,
  charge
})
const transfer = { organization_id: "org", debit: "pool", credit: "revenue", reference: null }
const capture = (holdId: string, amount: bigint) => ({
  ...transfer,
  kind: "capture",
  amount,
  hold_id: holdId
})

const task: Task = {
  ...own,
  id: "vt_1",
  model: "clip-1",
  protocol: "vp_d",
  state: "succeeded",
  error_code: null,
  upstream_id: "job-v",
  video_url: "http://v"
}
const videoHold = holdOf("vt_1", "kling-v3-omni", 3_000_000_000n)
const imageHold = holdOf("im_1", "sim-paint-1", 1_000_000_000n)

/** One video and one image, each ordered, made, charged and answered once. */
const sound: Books = {
  pools: [{ organization_id: "org", balance: 6_000_000_000n, held: 0n }],
  transfers: [
    {
      ...transfer,
      kind: "deposit",
      debit: "external",
      credit: "pool",
      amount: 10_000_000_000n,
      hold_id: null,
      reference: "first"
    },
    capture("vt_1", 3_000_000_000n),
    capture("im_1", 1_000_000_000n)
  ],
  holds: [videoHold, imageHold],
  months: [{ ...own, month: "2026-01-01", held: 0n, captured: 4_000_000_000n, cap: null }],
  usage: [usageOf("vt_1", "clip-1", 3_000_000_000n), usageOf("im_1", "paint-1", 1_000_000_000n)],
  tasks: [task],
  orphans: [],
  jobs: [jobOf(clip, "job-v"), jobOf(paint, "job-i")]
}

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
  ["lost money", { pools: [{ organization_id: "org", balance: 1n, held: 0n }] }, ["I1"]],
  ["a lost deposit", { transfers: captures }, ["I1", "I8"]],
  ["a doubled capture", { transfers: [...sound.transfers, ...captures] }, ["I1", "I4"]],
  [
    "money that stays held",
    { pools: [{ organization_id: "org", balance: 6_000_000_000n, held: 1n }] },
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
