/** The next order of a client, and how the client behaves with it. */
import { createHash } from "node:crypto"
import { Effect, Random } from "effect"
import { type Good, goods } from "./goods.ts"
import type { Customer, Order } from "./witness.ts"

type Weighted<A> = ReadonlyArray<readonly [weight: number, value: A]>

const pick = <A>(choices: Weighted<A>): Effect.Effect<A> =>
  Effect.map(Random.next, (drawn) => {
    let left = drawn * choices.reduce((sum, [weight]) => sum + weight, 0)
    const found = choices.find(([weight]) => {
      left -= weight
      return left < 0
    })
    const [, value] = found ?? choices[choices.length - 1] ?? []
    if (value === undefined) throw new Error("there is nothing to choose from")
    return value
  })

/** Faults of the vendor for an order, as the simulator's control words in the prompt. */
const troubles: Record<Good["kind"], Weighted<string>> = {
  video: [
    [48, ""],
    [10, "sim:slow=6"],
    [4, "sim:fail"],
    [4, "sim:moderate-input"],
    [3, "sim:moderate-output"],
    [6, "sim:lost"],
    [2, "sim:hang"],
    [3, "sim:truncated"],
    [2, "sim:cut"],
    [3, "sim:echo"],
    [2, "sim:html"],
    [3, "sim:http500"],
    [2, "sim:rate"],
    [8, "sim:nousage"],
    [3, "sim:usage=1"],
    [3, "sim:usage=9900000"],
    [3, "sim:poll500=3"],
    [1, "sim:unknown-status"],
    [2, "sim:forget"],
    [1, "sim:cancel"],
    [1, "sim:expire"],
    [1, "sim:refuse=503"]
  ],
  image: [
    [60, ""],
    [7, "sim:lost"],
    [2, "sim:hang"],
    [4, "sim:truncated"],
    [3, "sim:cut"],
    [3, "sim:echo"],
    [3, "sim:html"],
    [4, "sim:fail"],
    [4, "sim:moderate-input"],
    [3, "sim:moderate-output"],
    [4, "sim:http500"],
    [3, "sim:rate"],
    [4, "sim:fewer"],
    [2, "sim:refuse=503"]
  ]
}

export type Behaviour =
  /** Sends one request without a key, and never retries. */
  | { readonly _tag: "Once" }
  /** Disconnects after a time, without a key and without a retry. */
  | { readonly _tag: "HangsUp"; readonly afterMillis: number }
  /** Retries under its key until there is a final outcome. */
  | { readonly _tag: "Repeats" }
  /** Disconnects after a time, then retries under its key. */
  | { readonly _tag: "HangsUpAndRepeats"; readonly afterMillis: number }
  /** Sends the same request several times concurrently, then retries. */
  | { readonly _tag: "Bursts"; readonly size: number }
  /** Retries, then sends a different request under the same key. */
  | { readonly _tag: "Changes" }

const behaviour: Effect.Effect<Behaviour> = Effect.gen(function* () {
  const afterMillis = yield* Random.nextIntBetween(0, 400)
  const size = yield* Random.nextIntBetween(2, 5)
  return yield* pick<Behaviour>([
    [35, { _tag: "Once" }],
    [12, { _tag: "HangsUp", afterMillis }],
    [33, { _tag: "Repeats" }],
    [8, { _tag: "HangsUpAndRepeats", afterMillis }],
    [9, { _tag: "Bursts", size }],
    [3, { _tag: "Changes" }]
  ])
})

/**
 * The number of times that a client polls its task before it gives up; 0 means that it never polls.
 */
const polls = pick<number>([
  [3, 0],
  [2, 2],
  [3, 12]
])

export interface Plan {
  readonly order: Order
  readonly behaviour: Behaviour
  readonly polls: number
  readonly thinkMillis: number
}

/** The same order with another word in its prompt, so that its request fingerprint differs. */
export const changed = (order: Order): Order => {
  const prompt = `${order.prompt} again`
  return {
    ...order,
    id: `${order.id}-changed`,
    prompt,
    promptDigest: digestOf(prompt),
    json: { ...order.json, prompt }
  }
}

const digestOf = (prompt: string): string => createHash("sha256").update(prompt).digest("hex")

/** The next order of a client, drawn from the random generator of the fiber that runs it. */
export const makePlan = Effect.fnUntraced(function* (options: {
  readonly customer: Customer
  readonly id: string
  readonly canary: string
  /** Forces a failing order, so that a short run contains one too. */
  readonly mustFail: boolean
}): Effect.fn.Return<Plan> {
  const { customer, id, canary, mustFail } = options
  const good = yield* pick(goods.map((good) => [good.weight, good] as const))
  const trouble = mustFail ? "sim:rate" : yield* pick(troubles[good.kind])
  const units = yield* Random.nextIntBetween(...good.units)
  const how: Behaviour = mustFail ? { _tag: "Once" } : yield* behaviour
  const keyed = how._tag !== "Once" && how._tag !== "HangsUp"
  const prompt = `${canary} ${id} a lighthouse at dusk ${trouble}`.trim()
  const order: Order = {
    id,
    customer,
    model: good.model,
    kind: good.kind,
    units,
    prompt,
    promptDigest: digestOf(prompt),
    json:
      good.kind === "video"
        ? { model: good.model, prompt, duration: units, resolution: good.resolution ?? "720p" }
        : { model: good.model, prompt, n: units },
    idempotencyKey: keyed ? `order-${id}` : null
  }
  return {
    order,
    behaviour: how,
    polls: good.kind === "video" ? yield* polls : 0,
    thinkMillis: yield* Random.nextIntBetween(0, 600)
  }
})
