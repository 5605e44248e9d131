/** Channels whose vendors fail for a while, seen on two gateways that share a database. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { channelNow, passRests } from "../support/channels.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { failoverCatalog, trouble } from "../support/failovers.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { errorOf, orderImages } from "../support/orders.ts"

/** Rests end when the test says so. */
const settings = {
  ...quickSettings,
  breakerCalls: 10,
  channelCooldownSeconds: 3600,
  maxCooldownSeconds: 86_400,
  keyRefusalsPerMinute: 0
}

const FAULTS = Number(process.env.CLIENT_FAULTS ?? 1000)

/** Of one model: the first account, and the second one for what the first does not take. */
const catalogOf = (accounts: number) => (simulatorUrl: string) => {
  const { channels, models, mounts } = failoverCatalog()(simulatorUrl)
  const used = channels
    .filter(({ id }) => id.startsWith("ip_a"))
    .slice(0, accounts)
    .map(({ id }) => id)
  return {
    channels,
    models,
    mounts: mounts.filter(({ channel }) => used.includes(channel))
  }
}

const CHANNEL = "ip_a-aaaa"

const makePair = Effect.fnUntraced(function* (accounts: number) {
  const url = yield* temporaryServerDatabase
  const database = layerDatabaseAt(url)
  const build = (catalogFor: ReturnType<typeof catalogOf>) =>
    Layer.build(Layer.fresh(layerTestGateway("postgres", settings, { database, catalogFor })))
  const first = yield* build(catalogOf(accounts))
  const { simulator } = Context.get(first, Gateway)
  const second = yield* build(() => catalogOf(accounts)(simulator.url))
  // The vendor is the first one's.
  return [
    first,
    Context.add(second, Gateway, { ...Context.get(second, Gateway), simulator })
  ] as const
})

const image = (who: Customer, prompt = "a lighthouse") =>
  orderImages(who, { model: "paint-1", prompt })

const images = (who: Customer, count: number, prompt?: string) =>
  Effect.forEach(Array.from({ length: count }), () => image(who, prompt), {
    concurrency: "unbounded"
  })

/** Orders until one is answered like that. */
const until = (who: Customer, status: number, code: string | null) =>
  image(who).pipe(
    Effect.delay("20 millis"),
    Effect.repeat({
      until: (answer) =>
        answer.status === status && (code === null || answer.text.includes(`"${code}"`))
    }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )

/** Requests that have come to the vendor since. */
const calls = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.requests, ({ length }) => length)
)
const forgetCalls = Effect.flatMap(Gateway, ({ simulator }) => simulator.clearRequests)

it.live("a channel whose vendor fails rests, is tried by one order, and takes orders again", () =>
  Effect.gen(function* () {
    const [first, second] = yield* makePair(1)
    const onFirst = Effect.provide(first)
    const onSecond = Effect.provide(second)
    const who = yield* onFirst(Effect.flatMap(Gateway, (gateway) => gateway.customer("100")))

    yield* onFirst(trouble("aaaa", "sim:refuse=500"))
    const refused = yield* onFirst(until(who, 503, "channel_unavailable"))
    assert.include((yield* onFirst(errorOf(refused))).message, "its vendor fails")
    const seconds = Number(refused.headers.get("retry-after"))
    assert.isAbove(seconds, 3500)
    assert.isAtMost(seconds, 3600)
    yield* onSecond(until(who, 503, "channel_unavailable"))
    yield* onFirst(forgetCalls)
    for (const on of [onFirst, onSecond]) {
      const statuses = (yield* on(images(who, 20))).map(({ status }) => status)
      assert.deepStrictEqual([...new Set(statuses)], [503])
    }
    assert.strictEqual(yield* onFirst(calls), 0)
    const open = yield* onSecond(channelNow(CHANNEL))
    assert.strictEqual(open.state, "open")
    assert.deepInclude(open.rest, { reason: "vendor_error", status: 500 })
    assert.deepInclude(open.last_failure, { reason: "vendor_error", status: 500 })
    assert.isAtLeast(open.failures.vendor_error ?? 0, 10)

    // One order at either gateway tries it in vain, and it rests for twice as long.
    yield* onFirst(passRests)
    const both = Effect.all([onFirst(images(who, 10)), onSecond(images(who, 10))], {
      concurrency: 2
    })
    const tried = yield* both.pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: (answers) => answers.flat().some(({ status }) => status === 502) }),
      Effect.timeout("20 seconds")
    )
    assert.lengthOf(
      tried.flat().filter(({ status }) => status === 502),
      1
    )
    yield* both
    assert.strictEqual(yield* onFirst(calls), 1)
    const longer = (yield* onFirst(channelNow(CHANNEL))).rest
    assert.strictEqual(longer?.since, open.rest?.since)
    assert.closeTo((Date.parse(longer?.until ?? "") - Date.now()) / 3_600_000, 2, 0.1)

    // The vendor is well again: the next trial closes it for both.
    yield* onFirst(trouble("aaaa", ""))
    yield* onFirst(passRests)
    yield* onSecond(until(who, 200, null))
    yield* onFirst(until(who, 200, null))
    assert.strictEqual((yield* onFirst(channelNow(CHANNEL))).state, "closed")
    // What failed before counts no more.
    const after = yield* onFirst(images(who, 10))
    assert.deepStrictEqual([...new Set(after.map(({ status }) => status))], [200])
    yield* onFirst(Effect.flatMap(Gateway, (gateway) => gateway.verify))
    const { held } = yield* onFirst(Effect.flatMap(Gateway, (gateway) => gateway.balance(who)))
    assert.strictEqual(held, "0")
  })
)

it.live(
  "where another channel is there orders go on to it, and the operator may end the rest",
  () =>
    Effect.gen(function* () {
      const [first] = yield* makePair(2)
      yield* Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* trouble("aaaa", "sim:refuse=500")
        yield* until(who, 200, null)
        yield* forgetCalls
        const answers = yield* images(who, 20)
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
        assert.deepStrictEqual(
          [...new Set((yield* gateway.simulator.requests).map(({ key_hint }) => key_hint))],
          ["bbbb"]
        )
        yield* trouble("aaaa", "")
        const enabled = yield* gateway.admin(`/channels/${CHANNEL}/enable`, { method: "POST" })
        assert.deepInclude(enabled.body, { state: "closed", rest: null })
        yield* forgetCalls
        yield* images(who, 20)
        assert.deepStrictEqual(
          [...new Set((yield* gateway.simulator.requests).map(({ key_hint }) => key_hint))],
          ["aaaa"]
        )
      }).pipe(Effect.provide(first))
    })
)

it.live(
  "faults of clients, empty pools and refused content do not move it",
  () =>
    Effect.gen(function* () {
      const [first] = yield* makePair(1)
      yield* Effect.gen(function* () {
        const gateway = yield* Gateway
        const poor = yield* gateway.customer("0.1")
        const who = yield* gateway.customer("100")
        const ordering = (order: () => ReturnType<typeof image>, status: number) =>
          Effect.forEach(
            Array.from({ length: FAULTS / 4 }),
            () => Effect.map(order(), (answer) => assert.strictEqual(answer.status, status)),
            { concurrency: 32, discard: true }
          )
        yield* ordering(() => image(poor), 402)
        yield* ordering(() => image(who, ""), 400)
        yield* ordering(() => image(who, "sim:moderate-input"), 400)
        yield* ordering(() => image(who, "sim:refuse=422"), 422)
        const { state, failures, refused } = yield* channelNow(CHANNEL)
        assert.strictEqual(state, "closed")
        assert.deepStrictEqual(failures, {})
        assert.isAbove(refused, 0)
        assert.strictEqual((yield* image(who)).status, 200)
        yield* gateway.verify
      }).pipe(Effect.provide(first))
    }),
  { timeout: 600_000 }
)
