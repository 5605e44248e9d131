import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { channelNow, passRests } from "../support/channels.ts"
import { type Account, trouble } from "../support/failovers.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"

type Catalog = typeof CatalogWrite.Encoded

const key = (account: Account, enabled = true) => ({
  name: `key-${account}`,
  api_key: `vendor-key-${account}`,
  enabled
})

/** Images, and videos that are asked for one by one and many at a time, on channels with these keys. */
const catalogWith =
  (...api_keys: NonNullable<Catalog["channels"][number]["api_keys"]>) =>
  (simulatorUrl: string): Catalog => ({
    channels: (["ip_a/v1", "vp_a", "vp_d"] as const).map((path) => {
      const [id = ""] = path.split("/")
      return { id, name: id, base_url: `${simulatorUrl}/${path}`, api_keys }
    }),
    models: [
      {
        id: "paint-1",
        modality: "image",
        protocol: "ip_a",
        prices: { kind: "image", per_image: "0.2" }
      },
      {
        id: "film-1",
        modality: "video",
        protocol: "vp_a",
        prices: { kind: "token_video", per_million_tokens: { base: { without_video: "46" } } }
      },
      {
        id: "clip-1",
        modality: "video",
        protocol: "vp_d",
        prices: { kind: "second_video", per_second: { "720p": "0.6" } }
      }
    ],
    mounts: [
      { model: "paint-1", channel: "ip_a", upstream_model: "vendor-paint-1" },
      { model: "film-1", channel: "vp_a", upstream_model: "vendor-film-1" },
      { model: "clip-1", channel: "vp_d", upstream_model: "vendor-clip-1" }
    ]
  })

const two = catalogWith(key("aaaa"), key("bbbb"))

const load = Effect.fnUntraced(function* (catalogFor: (url: string) => Catalog) {
  const gateway = yield* Gateway
  return yield* gateway.admin("/catalog", {
    method: "PUT",
    json: catalogFor(gateway.simulator.url)
  })
})

/** Forgets who was called until now. */
const begin = Effect.flatMap(Gateway, ({ simulator }) => simulator.clearRequests)

/** How often the vendors were called with the key since then. */
const callsWith = Effect.fnUntraced(function* (account: Account) {
  const { simulator } = yield* Gateway
  return (yield* simulator.requests).filter(({ key_hint }) => key_hint === account).length
})

const manyImages = Effect.fnUntraced(function* (who: Customer, count: number) {
  const answers = yield* Effect.forEach(
    Array.from({ length: count }),
    () => orderImages(who, { model: "paint-1" }),
    { concurrency: "unbounded" }
  )
  assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
})

/** Orders until one is made with the key, as a gateway hears of the end of a rest within a second. */
const untilCalledWith = (who: Customer, account: Account) =>
  Effect.andThen(manyImages(who, 10), callsWith(account)).pipe(
    Effect.delay("50 millis"),
    Effect.repeat({ until: (calls) => calls > 0 }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )

/** Rests end when the test says so. */
const settings = { ...quickSettings, keyCooldownSeconds: 3600, maxCooldownSeconds: 86_400 }

layer(layerTestGateway("postgres", settings, { catalogFor: two }), {
  excludeTestServices: true,
  timeout: "120 seconds"
})("several keys of a channel", (it) => {
  it.effect("are taken in turn", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      yield* begin
      for (let order = 0; order < 6; order++) {
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      }
      assert.strictEqual(yield* callsWith("aaaa"), 3)
      assert.strictEqual(yield* callsWith("bbbb"), 3)
    })
  )

  it.effect.each([
    [401, "credentials_refused"],
    [402, "account_empty"],
    [403, "credentials_refused"]
  ] as const)(
    "one that is refused with %s rests, and is tried again by a single order",
    ([status, reason]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* trouble("aaaa", `sim:refuse=${status}`)
        for (let order = 0; order < 2; order++) yield* manyImages(who, 1)
        const resting = yield* channelNow("ip_a")
        assert.strictEqual(resting.state, "closed")
        assert.deepInclude(resting.keys[0]?.rest, { reason, status })
        assert.strictEqual(resting.keys[1]?.rest, null)

        yield* begin
        yield* manyImages(who, 10)
        assert.strictEqual(yield* callsWith("aaaa"), 0)

        yield* passRests
        assert.strictEqual(yield* untilCalledWith(who, "aaaa"), 1)
        yield* manyImages(who, 10)
        assert.strictEqual(yield* callsWith("aaaa"), 1)
        const longer = (yield* channelNow("ip_a")).keys[0]?.rest
        const hours = (Date.parse(longer?.until ?? "") - Date.now()) / 3_600_000
        assert.closeTo(hours, 2, 0.1)
        assert.strictEqual(longer?.since, resting.keys[0]?.rest?.since)

        yield* trouble("aaaa", "")
        yield* passRests
        yield* begin
        yield* untilCalledWith(who, "aaaa")
        assert.isNull((yield* channelNow("ip_a")).keys[0]?.rest)
        yield* gateway.verify
      })
  )

  it.effect("all of them refused: the order is, each is tried once, and no hold is left", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      for (const account of ["aaaa", "bbbb"] as const) yield* trouble(account, "sim:refuse=401")
      yield* begin
      const answer = yield* orderImages(who, { model: "paint-1" })
      assert.strictEqual(answer.status, 502, answer.text)
      assert.deepStrictEqual([yield* callsWith("aaaa"), yield* callsWith("bbbb")], [1, 1])
      assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 502)
      for (const account of ["aaaa", "bbbb"] as const) yield* trouble(account, "")
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
      // While all rest they are called all the same.
      for (let order = 0; order < 4; order++) {
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      }
      const { keys } = yield* channelNow("ip_a")
      assert.lengthOf(
        keys.filter(({ rest }) => rest === null),
        1
      )
      yield* passRests
      yield* begin
      yield* Effect.all([untilCalledWith(who, "aaaa"), untilCalledWith(who, "bbbb")])
    })
  )

  it.effect("a new value ends the rest of its key", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      yield* trouble("aaaa", "sim:refuse=401")
      for (let order = 0; order < 2; order++) yield* orderImages(who, { model: "paint-1" })
      assert.isNotNull((yield* channelNow("ip_a")).keys[0]?.rest)
      const renewed = { ...key("aaaa"), api_key: "vendor-key-cccc" }
      assert.strictEqual((yield* load(catalogWith(renewed, key("bbbb")))).status, 200)
      assert.isNull((yield* channelNow("ip_a")).keys[0]?.rest)
      yield* begin
      yield* untilCalledWith(who, "cccc")
      yield* trouble("aaaa", "")
      yield* load(two)
    })
  )

  it.effect.each(["film-1", "clip-1"])(
    "of 100 tasks of %s whose key is revoked all end, by the other key",
    (model) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* load(catalogWith(key("aaaa"), key("bbbb", false)))
        const who = yield* gateway.customer("2000")
        const prompt = "sim:takes=1"
        const ids = yield* Effect.forEach(
          Array.from({ length: 100 }),
          () => createVideo(who, { model, prompt }),
          { concurrency: 16 }
        )
        yield* begin
        yield* trouble("aaaa", "sim:refuse=401")
        const ended = yield* Effect.forEach(ids, (id) => finishVideo(who, id), {
          concurrency: "unbounded"
        })
        yield* trouble("aaaa", "")
        assert.deepStrictEqual(
          [...new Set(ended.map(({ task_status }) => task_status))],
          ["succeeded"]
        )
        assert.isAbove(yield* callsWith("bbbb"), 0)
        assert.deepInclude(yield* gateway.balance(who), { held: "0" })
        yield* gateway.verify
        yield* passRests
        yield* load(two)
      })
  )

  it.effect("a disabled key makes no orders, and one without a value is told of", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const answer = yield* load(
        catalogWith(key("aaaa", false), key("bbbb"), { name: "empty", enabled: true })
      )
      assert.include(answer.text, "channels[0].api_keys[2]")
      yield* begin
      for (let order = 0; order < 3; order++) yield* orderImages(who, { model: "paint-1" })
      assert.deepStrictEqual([yield* callsWith("aaaa"), yield* callsWith("bbbb")], [0, 3])

      const none = yield* load(catalogWith(key("aaaa", false)))
      assert.include(none.text, "no key of this channel is enabled")
      const refused = yield* orderImages(who, { model: "paint-1" })
      assert.strictEqual(refused.status, 503)
      assert.strictEqual((yield* errorOf(refused)).code, "channel_unavailable")
      yield* load(two)
    })
  )

  it.effect("read back as they were written, but for their values, they are kept", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const read = yield* gateway.admin("/catalog")
      assert.notInclude(read.text, "vendor-key-aaaa")
      const json = yield* bodyAs(Schema.Record(Schema.String, Schema.Unknown), read)
      const again = yield* gateway.admin("/catalog", { method: "PUT", json })
      assert.deepNestedInclude(again.body, {
        "changes.channels": { added: [], changed: [], removed: [] },
        warnings: []
      })
      assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
    })
  )

  it.effect("two of one name are refused with their path", () =>
    Effect.gen(function* () {
      const twice = yield* load(catalogWith(key("aaaa"), key("aaaa")))
      assert.strictEqual(twice.status, 400)
      assert.deepInclude(yield* errorOf(twice), { param: "channels[0].api_keys[1].name" })
      const { simulator } = yield* Gateway
      const gateway = yield* Gateway
      const catalog = catalogWith({ ...key("aaaa"), name: "default" })(simulator.url)
      const channels = catalog.channels.map((channel) => ({ ...channel, api_key: "another" }))
      const both = yield* gateway.admin("/catalog", {
        method: "PUT",
        json: { ...catalog, channels }
      })
      assert.strictEqual(both.status, 400)
      assert.include(both.text, "is the name of api_key")
    })
  )
})

layer(
  layerTestGateway("postgres", { ...settings, unknownGraceSeconds: 0.001 }, { catalogFor: two }),
  { excludeTestServices: true, timeout: "120 seconds" }
)("keys of different accounts", (it) => {
  const untilPolledWith = (account: Account) =>
    callsWith(account).pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: (calls) => calls >= 3 }),
      Effect.timeout("20 seconds"),
      Effect.orDie
    )

  it.effect.each(["film-1", "clip-1"])(
    "that another one does not know a task of %s is no verdict",
    (model) =>
      Effect.gen(function* () {
        yield* load(catalogWith(key("aaaa"), key("bbbb", false)))
        const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("100"))
        const id = yield* createVideo(who, { model, prompt: "sim:takes=1" })
        yield* trouble("aaaa", "sim:refuse=401")
        yield* trouble("bbbb", "sim:refuse=404")
        yield* begin
        yield* untilPolledWith("bbbb")
        yield* trouble("aaaa", "")
        yield* passRests
        assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        yield* trouble("bbbb", "")
      })
  )

  it.effect("a task is asked for with the key it was made with", () =>
    Effect.gen(function* () {
      yield* load(catalogWith(key("aaaa", false), key("bbbb")))
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("100"))
      const id = yield* createVideo(who, { model: "film-1" })
      yield* load(catalogWith(key("aaaa"), key("bbbb", false)))
      yield* begin
      assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
      assert.strictEqual(yield* callsWith("aaaa"), 0)
    })
  )

  it.effect("one without money is still asked for what it has made", () =>
    Effect.gen(function* () {
      yield* load(two)
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("100"))
      yield* trouble("bbbb", "sim:refuse=401")
      const id = yield* createVideo(who, { model: "film-1", prompt: "sim:takes=1" })
      yield* trouble("bbbb", "")
      yield* passRests
      yield* trouble("aaaa", "sim:refuse=402")
      for (let order = 0; order < 4; order++) {
        yield* createVideo(who, { model: "film-1" })
      }
      const rests = (yield* channelNow("vp_a")).keys.map(({ rest }) => rest?.reason ?? null)
      assert.strictEqual(rests[0], "account_empty")
      yield* trouble("aaaa", "")
      yield* trouble("bbbb", "sim:refuse=404")
      assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
      yield* trouble("bbbb", "")
    })
  )
})

layer(
  layerTestGateway(
    "postgres",
    { ...settings, taskDeadlineSeconds: 3, lastQuestionSeconds: 1 },
    { catalogFor: catalogWith(key("aaaa")) }
  ),
  { excludeTestServices: true, timeout: "120 seconds" }
)("the only key of a channel", (it) => {
  it.effect("is revoked while 100 tasks run: they end at their deadline, refunded and kept", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("2000")
      const ids = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => createVideo(who, { model: "film-1", prompt: "sim:takes=30" }),
        { concurrency: 16 }
      )
      yield* trouble("aaaa", "sim:refuse=401")
      const ended = yield* Effect.forEach(ids, (id) => finishVideo(who, id), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        [...new Set(ended.map(({ error }) => error?.code))],
        ["deadline_exceeded"]
      )
      assert.deepInclude(yield* gateway.balance(who), { balance: "2000", held: "0" })
      const Orphans = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
      const orphans = yield* bodyAs(Orphans, yield* gateway.admin("/orphans?limit=100"))
      assert.sameMembers(
        orphans.data.map(({ id }) => id),
        ids
      )
      yield* gateway.verify
    })
  )
})
