import { assert, it } from "@effect/vitest"
import { Effect, Exit, Random } from "effect"
import { TestClock } from "effect/testing"
import type { BreakerState } from "../../src/channels/ChannelHealth.ts"
import { ChannelUnavailable, RateLimited } from "../../src/domain/Errors.ts"
import {
  type KnownRefusal,
  type Refusal,
  type VendorFailure,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../../src/domain/VendorOutcome.ts"
import { drawMounts, makeCurrentMount, makeTurns, type Turn } from "../../src/orders/mountTurns.ts"
import type { MountedCall } from "../../src/orders/orderValue.ts"
import type { CooldownTarget } from "../../src/services/channels/ChannelRecords.ts"

const mount = (name: string, priority: number, weight: number) => ({ name, priority, weight })

/** How often each mount comes first, and each at every place. */
const drawMany = Effect.fnUntraced(function* (
  mounts: readonly [ReturnType<typeof mount>, ...ReadonlyArray<ReturnType<typeof mount>>],
  times: number
) {
  const orders: Array<ReadonlyArray<string>> = []
  for (let drawing = 0; drawing < times; drawing++) {
    orders.push((yield* drawMounts(mounts)).map(({ name }) => name))
  }
  const share = (name: string, place: number) =>
    orders.filter((order) => order[place] === name).length / times
  return { orders, share }
}, Random.withSeed("mounts"))

it.effect("a lower priority comes first whatever the weights, and weights share among equals", () =>
  Effect.gen(function* () {
    const { orders, share } = yield* drawMany(
      [mount("late", 2, 1000), mount("a", 1, 3), mount("b", 1, 1), mount("spare", 1, 0)],
      4000
    )
    assert.isTrue(orders.every((order) => order[3] === "late" && order[2] === "spare"))
    assert.approximately(share("a", 0), 0.75, 0.03)
    assert.approximately(share("b", 0), 0.25, 0.03)
  })
)

it.effect("what is left shares by its weights too", () =>
  Effect.gen(function* () {
    const { share } = yield* drawMany([mount("a", 0, 2), mount("b", 0, 1), mount("c", 0, 1)], 4000)
    assert.approximately(share("a", 0), 0.5, 0.03)
    // After b or c the others are a and one of weight 1.
    assert.approximately(share("a", 1), 0.5 * (2 / 3), 0.03)
  })
)

const mounted = (channelId: string): MountedCall<string> => ({
  priority: 0,
  weight: 1,
  job: { channelId, protocol: "ip_a", upstreamModel: "u" },
  cost: null,
  maxTasks: channelId === "full" ? 1 : null,
  call: () => Effect.succeed(channelId)
})
const mounts = ["a", "b", "c", "d"].map(mounted)

const channelOf = ({ mount }: Turn<string>) => mount.job.channelId

const serving: BreakerState = { _tag: "Closed" }
const coolingDown = (secondsLeft: number): BreakerState => ({
  _tag: "Open",
  secondsLeft,
  isOrganizationOnly: false
})
const busy = new RateLimited({ message: "The channel is busy", retryAfterSeconds: 1 })
const trial: CooldownTarget = { channelId: "b", keyName: null, model: "m", organizationId: null }

/** Turns of the mounts, at channels that serve where nothing else is said of them. */
const turnsOf = (
  states: Readonly<Record<string, BreakerState>>,
  busyChannels: ReadonlyArray<string> = []
) =>
  makeTurns(
    mounts,
    (channelId) => (busyChannels.includes(channelId) ? busy : null),
    (channelId) => Effect.succeed(states[channelId] ?? serving),
    () => Effect.succeed(true)
  ).next

it.effect("a full channel is passed over, and is where the order may wait", () =>
  Effect.gen(function* () {
    const turns = makeTurns(
      [mounted("full"), mounted("a")],
      () => null,
      () => Effect.succeed(serving),
      ({ maxTasks }) => Effect.succeed(maxTasks === null)
    )
    assert.isNull(turns.fullMount())
    assert.strictEqual(channelOf(yield* turns.next()), "a")
    assert.strictEqual(turns.fullMount()?.job.channelId, "full")
    assert.instanceOf(yield* Effect.flip(turns.next()), RateLimited)
  })
)

it.effect("a channel that cools down or has no permit is passed over", () =>
  Effect.gen(function* () {
    const next = turnsOf({ a: coolingDown(5), c: { _tag: "HalfOpen", trials: [trial] } }, ["b"])
    const first = yield* next()
    assert.deepStrictEqual([channelOf(first), first.trials], ["c", [trial]])
    const second = yield* next()
    assert.deepStrictEqual([channelOf(second), second.trials], ["d", []])
  })
)

it.effect("three channels are called for one order at most", () =>
  Effect.gen(function* () {
    const next = turnsOf({})
    const channels = [yield* next(), yield* next(), yield* next()].map(channelOf)
    assert.deepStrictEqual(channels, ["a", "b", "c"])
    assert.instanceOf(yield* Effect.flip(next()), ChannelUnavailable)
  })
)

it.effect("where all cool down, the shortest cooldown is answered", () =>
  Effect.gen(function* () {
    const states = {
      a: coolingDown(9),
      b: coolingDown(2.5),
      c: coolingDown(7),
      d: coolingDown(8)
    }
    const error = yield* Effect.flip(turnsOf(states)())
    assert.deepInclude(error, { _tag: "channel_unavailable", retryAfterSeconds: 3 })
  })
)

it.effect("where a permit is missing, that is answered and not the cooldown of others", () =>
  Effect.gen(function* () {
    const states = { a: coolingDown(9), c: coolingDown(9), d: coolingDown(9) }
    assert.strictEqual(yield* Effect.flip(turnsOf(states, ["b"])()), busy)
  })
)

const refused = (proof?: KnownRefusal) =>
  new VendorRefused({
    effectiveStatus: 400,
    status: 400,
    body: null,
    message: "no",
    retryAfterSeconds: null,
    ...(proof === undefined ? {} : { proof })
  })
const unreachable = new VendorUnreachable({ message: "no" })
const lost = new VendorLost({
  reason: "timeout",
  message: "no",
  status: null,
  retryAfterSeconds: null
})

/** An order whose first mount fails and whose second one would make it. */
const callWith = Effect.fnUntraced(function* (
  failure: VendorFailure,
  order: { readonly hasBegun?: boolean; readonly spentSeconds?: number; readonly isOpen?: boolean }
) {
  const { hasBegun = false, spentSeconds = 0, isOpen = true } = order
  const nextTurn = turnsOf({})
  const current = yield* makeCurrentMount(yield* nextTurn(), nextTurn, {
    deadlineSeconds: 100,
    task: null,
    hasBegun: () => hasBegun
  })
  const called: Array<string> = []
  const refusals: Array<Refusal> = []
  const exit = yield* Effect.exit(
    current.call(
      (turn) =>
        Effect.suspend(() => {
          called.push(channelOf(turn))
          return called.length > 1
            ? Effect.succeed("product")
            : Effect.andThen(TestClock.adjust(spentSeconds * 1000), Effect.fail(failure))
        }),
      (_, refusal) => {
        refusals.push(refusal)
        return Effect.succeed(isOpen)
      }
    )
  )
  return { called, refusals, exit }
})

it.effect.each([
  ["a vendor that cannot be reached", unreachable, "unreachable"],
  ["a refused key", refused("credentials_refused"), "credentials_refused"],
  ["an empty account", refused("account_empty"), "account_empty"],
  ["an unknown model", refused("model_unknown"), "model_unknown"],
  ["too many requests", refused("rate_limited"), "rate_limited"],
  ["an overloaded vendor", refused("overloaded"), "overloaded"]
] as const)("the next mount is called after %s", ([, failure, reason]) =>
  Effect.gen(function* () {
    const { called, refusals, exit } = yield* callWith(failure, {})
    assert.deepStrictEqual(called, ["a", "b"])
    assert.deepStrictEqual(
      refusals.map((refusal) => refusal.reason),
      [reason]
    )
    assert.deepStrictEqual(exit, Exit.succeed("product"))
  })
)

it.effect.each([
  ["a refusal of what was ordered", refused("refused"), {}],
  ["an error that nothing is known of", refused(), {}],
  ["an answer that never came", lost, {}],
  ["a part of the answer that has left", unreachable, { hasBegun: true }],
  ["more than a quarter of the order's time", unreachable, { spentSeconds: 26 }]
] as const)("no other mount is called after %s", ([, failure, order]) =>
  Effect.gen(function* () {
    const { called, refusals, exit } = yield* callWith(failure, order)
    assert.deepStrictEqual([called, refusals], [["a"], []])
    assert.deepStrictEqual(exit, Exit.fail(failure))
  })
)

it.effect("no other mount is called for an order that is not open any more", () =>
  Effect.gen(function* () {
    const { called, refusals, exit } = yield* callWith(unreachable, { isOpen: false })
    assert.deepStrictEqual(called, ["a"])
    assert.lengthOf(refusals, 1)
    assert.deepStrictEqual(exit, Exit.fail(unreachable))
  })
)
