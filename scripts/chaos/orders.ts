/** The next order of a client, and how the client behaves with it. */
import { createHash } from "node:crypto"
import { Effect, Random } from "effect"
import { type Good, goods, placesOf } from "./goods.ts"
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

/**
 * What all orders of some worlds are about, so that their rare states meet: anything, the places of
 * channels, cancelling, images, keys that are used again, clients that disconnect, vendors that fail.
 */
export const focuses = [
  "anything",
  "queue",
  "cancelling",
  "images",
  "keys",
  "hang-ups",
  "troubles"
] as const
export type Focus = (typeof focuses)[number]

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
    [3, "sim:late500"],
    [6, "sim:same-job"],
    [2, "sim:rate"],
    [8, "sim:nousage"],
    [3, "sim:usage=1"],
    [3, "sim:usage=9900000"],
    [3, "sim:poll500=3"],
    [3, "sim:unknown-status"],
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
    [3, "sim:late500"],
    [3, "sim:rate"],
    [4, "sim:fewer"],
    [3, "sim:poll500=3"],
    [2, "sim:refuse=503"]
  ],
  text: [
    [60, ""],
    [7, "sim:lost"],
    [2, "sim:hang"],
    [4, "sim:truncated"],
    [3, "sim:cut"],
    [3, "sim:html"],
    [5, "sim:nousage"],
    [4, "sim:breaks=3"],
    [3, "sim:errors=2"],
    [4, "sim:http500"],
    [3, "sim:late500"],
    [3, "sim:rate"],
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

const behaviourOf = Effect.fnUntraced(function* (focus: Focus | null) {
  // While the order is at its vendor, also where the network is slow.
  const afterMillis = yield* Random.nextIntBetween(0, focus === "hang-ups" ? 2500 : 400)
  const size = yield* Random.nextIntBetween(2, 5)
  const hangUps: Weighted<Behaviour> = [
    [12, { _tag: "HangsUp", afterMillis }],
    [8, { _tag: "HangsUpAndRepeats", afterMillis }]
  ]
  if (focus === "hang-ups") return yield* pick(hangUps)
  return yield* pick<Behaviour>([
    ...(focus === "keys" ? hangUps.slice(1) : hangUps),
    [focus === "keys" ? 0 : 35, { _tag: "Once" }],
    [33, { _tag: "Repeats" }],
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

/**
 * The times after its acceptance at which a client cancels its task, in milliseconds. Most of them
 * fall while the task waits or runs, and the longest after its end.
 */
const cancelsOf = Effect.fnUntraced(function* (focus: Focus | null) {
  const early = yield* Random.nextIntBetween(0, 900)
  const late = yield* Random.nextIntBetween(900, 6000)
  return yield* pick<ReadonlyArray<number>>([
    [focus === "cancelling" ? 4 : 76, []],
    [12, [early]],
    [5, [late]],
    [4, [early, early]],
    [3, [early, late]]
  ])
})

/** For how many seconds an order waits for a place at a channel that may be full. */
const drawMaxWait = Effect.fnUntraced(function* (
  { protocol }: Good,
  duty: Duty | null,
  focus: Focus | null
) {
  if (!placesOf.has(protocol) || duty === "fails") return null
  const isLong = focus === "queue"
  const seconds = yield* Random.nextIntBetween(isLong ? 5 : 1, isLong ? 30 : 10)
  const drawn = yield* pick<number | null>([
    [35, null],
    [65, seconds]
  ])
  const isWaiting = duty === "waits" || focus === "queue" || focus === "cancelling"
  return isWaiting ? seconds : drawn
})

/**
 * What an order has to show, so that a short run shows each: its vendor fails, its vendor cancels it,
 * its vendor has no cancelling, it may wait for a place, it is of images that are read at once or
 * later, or of a text, its key is used again for another order, which is refused, the answer of its
 * vendor is lost, which has another channel, or its vendor counts more than it may.
 */
export type Duty =
  | "fails"
  | "is cancelled"
  | "is not cancelled"
  | "waits"
  | "is read at once"
  | "is read later"
  | "is a text"
  | "is changed"
  | "is lost"
  | "is counted"

/** The duties of a client's first orders; each client begins with another one of the later ones. */
const laterDuties = [
  "is cancelled",
  "fails",
  "waits",
  "is a text",
  "is not cancelled",
  "is read later",
  "is changed",
  "is lost",
  "is counted",
  "is read at once"
] as const

/** By how many duties the beginnings of two clients are apart, so that few clients soon do all. */
const DUTIES_APART = 3

/** The duty of a client's order; null for most, which are drawn. */
export const dutyOf = (client: number, number: number): Duty | null => {
  if (number === 0) return "fails"
  if (number > laterDuties.length) return null
  return laterDuties[(client * DUTIES_APART + number - 1) % laterDuties.length] ?? null
}

/** The product that is ordered where a duty needs a certain one. */
const dutyModels: Partial<Record<Duty, string>> = {
  "is cancelled": "clip-10",
  "is not cancelled": "motion-1",
  waits: "clip-9",
  "is read at once": "paint-2",
  "is read later": "paint-1",
  "is a text": "talk-1",
  "is changed": "paint-2",
  "is lost": "paint-1",
  "is counted": "film-1"
}

const dutyTroubles: Partial<Record<Duty, string>> = {
  fails: "sim:rate",
  "is cancelled": "sim:slow=8",
  "is not cancelled": "sim:slow=8",
  waits: "sim:slow=4",
  "is read at once": "",
  "is read later": "",
  "is a text": "",
  "is changed": "",
  "is lost": "sim:lost",
  "is counted": "sim:usage=9900000"
}

export interface Plan {
  readonly order: Order
  readonly behaviour: Behaviour
  readonly polls: number
  /** When the client cancels its task, in milliseconds after its acceptance. */
  readonly cancels: ReadonlyArray<number>
  readonly thinkMillis: number
}

const promptFields = (kind: Order["kind"], prompt: string) =>
  kind === "text" ? { messages: [{ role: "user", content: prompt }] } : { prompt }

/** The same order with another word in its prompt, so that its request fingerprint differs. */
export const changed = (order: Order): Order => {
  const prompt = `${order.prompt} again`
  return {
    ...order,
    id: `${order.id}-changed`,
    prompt,
    promptDigest: digestOf(prompt),
    json: { ...order.json, ...promptFields(order.kind, prompt) }
  }
}

const digestOf = (prompt: string): string => createHash("sha256").update(prompt).digest("hex")

/** The products that are ordered in a focus, each as often as it is listed; all where it has none. */
const focusModels: Partial<Record<Focus, ReadonlyArray<string>>> = {
  queue: ["clip-9"],
  cancelling: ["film-1", "clip-9", "clip-10", "paint-10", "paint-10", "paint-10"],
  images: ["paint-1", "paint-2", "paint-10"]
}

const drawGood = (duty: Duty | null, focus: Focus | null): Effect.Effect<Good> => {
  const model = duty === null ? undefined : dutyModels[duty]
  const focused = focus === null ? undefined : focusModels[focus]
  const models = model === undefined ? focused : [model]
  const weightOf = ({ model: sold, weight }: Good): number =>
    models === undefined ? weight : models.filter((name) => name === sold).length
  return pick(goods.map((good) => [weightOf(good), good] as const))
}

/** How the vendor takes the order: slowly where orders wait for or are cancelled at it. */
const drawTrouble = (
  kind: Good["kind"],
  duty: Duty | null,
  focus: Focus | null
): Effect.Effect<string> => {
  const wanted = duty === null ? undefined : dutyTroubles[duty]
  if (wanted !== undefined) return Effect.succeed(wanted)
  const drawn = troubles[kind]
  switch (focus) {
    case "troubles":
      return pick(drawn.map(([, trouble]) => [1, trouble] as const))
    case "queue":
      return pick([...drawn, [60, ""], [30, "sim:slow=2"]])
    case "hang-ups":
      return pick([...drawn, [100, ""]])
    case "cancelling":
      return pick([
        ...drawn,
        [40, "sim:slow=4"],
        [40, "sim:takes=1"],
        [20, "sim:takes=2"],
        [20, "sim:poll500=3"]
      ])
    default:
      return pick(drawn)
  }
}

/** The cancels of an order: soon after its acceptance where its duty is about a cancel. */
const drawCancels = (
  duty: Duty | null,
  focus: Focus | null
): Effect.Effect<ReadonlyArray<number>> => {
  if (duty === null) return cancelsOf(focus)
  return Effect.succeed(duty === "is cancelled" || duty === "is not cancelled" ? [300] : [])
}

const drawBehaviour = (duty: Duty | null, focus: Focus | null): Effect.Effect<Behaviour> => {
  if (duty === null) return behaviourOf(focus)
  const tag = duty === "fails" ? "Once" : duty === "is changed" ? "Changes" : "Repeats"
  return Effect.succeed({ _tag: tag })
}

/** How an order is read: streamed as a text, later as a task of images, or neither. */
interface Reading {
  readonly isLater: boolean
  readonly isStreamed: boolean
}

const drawReading = (
  { kind }: Good,
  duty: Duty | null,
  focus: Focus | null
): Effect.Effect<Reading> =>
  Effect.map(Random.nextBoolean, (drawn) => {
    const isLater = duty === null ? drawn || focus === "cancelling" : duty === "is read later"
    return { isLater: kind === "image" && isLater, isStreamed: kind === "text" && drawn }
  })

const jsonOf = (
  { kind, model, resolution = "720p" }: Good,
  { prompt, units, maxWait }: Pick<Order, "prompt" | "units" | "maxWait">,
  { isStreamed }: Reading
) => {
  const common = { model, ...promptFields(kind, prompt) }
  const wait = maxWait === null ? {} : { max_wait: maxWait }
  switch (kind) {
    case "video":
      return { ...common, duration: units, resolution, ...wait }
    case "image":
      return { ...common, n: units }
    case "text":
      return { ...common, max_tokens: units, ...(isStreamed ? { stream: true } : {}) }
  }
}

/** The next order of a client, drawn from the random generator of the fiber that runs it. */
export const makePlan = Effect.fnUntraced(function* (options: {
  readonly customer: Customer
  readonly id: string
  readonly canary: string
  readonly duty: Duty | null
  readonly focus: Focus | null
}): Effect.fn.Return<Plan> {
  const { customer, id, canary, duty, focus } = options
  const good = yield* drawGood(duty, focus)
  const trouble = yield* drawTrouble(good.kind, duty, focus)
  const units = yield* Random.nextIntBetween(...good.units)
  const how = yield* drawBehaviour(duty, focus)
  const keyed = how._tag !== "Once" && how._tag !== "HangsUp"
  const maxWait = yield* drawMaxWait(good, duty, focus)
  const reading = yield* drawReading(good, duty, focus)
  const isTask = good.kind === "video" || reading.isLater
  const prompt = `${canary} ${id} a lighthouse at dusk ${trouble}`.trim()
  const order: Order = {
    id,
    customer,
    model: good.model,
    kind: good.kind,
    isLater: reading.isLater,
    units,
    prompt,
    promptDigest: digestOf(prompt),
    json: jsonOf(good, { prompt, units, maxWait }, reading),
    idempotencyKey: keyed ? `order-${id}` : null,
    maxWait
  }
  return {
    order,
    behaviour: how,
    polls: isTask ? yield* polls : 0,
    cancels: isTask ? yield* drawCancels(duty, focus) : [],
    thinkMillis: yield* Random.nextIntBetween(0, 600)
  }
})
