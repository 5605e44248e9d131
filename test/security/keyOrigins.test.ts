/** A stored key goes only where it was given for, and running tasks are asked where they were made. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../../src/runtime/Changes.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { channelNow } from "../support/channels.ts"
import { databasesInTurn } from "../support/databases.ts"
import { trouble } from "../support/failovers.ts"
import { Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"

type ChannelJson = ReturnType<typeof testCatalog>["channels"][number]

/** The catalog with its first channel written otherwise, and no key of any other. */
const withChannel = (simulatorUrl: string, change: (channel: ChannelJson) => object) => {
  const catalog = testCatalog(simulatorUrl)
  const channels = catalog.channels.map((channel) => {
    const { api_key: _, ...keyless } = channel
    return channel.id === "ch-a" ? change(keyless) : keyless
  })
  return { ...catalog, channels }
}

const written =
  (method: "PUT" | "POST", path: string) => (change: (channel: ChannelJson) => object) =>
    Effect.flatMap(Gateway, (gateway) =>
      gateway.admin(path, { method, json: withChannel(gateway.simulator.url, change) })
    )
const put = written("PUT", "/catalog")
const preview = written("POST", "/catalog/preview")

const withKey = (base_url: string, api_key: string) =>
  Effect.tap(
    put((channel) => ({ ...channel, base_url, api_key })),
    ({ status, text }) => Effect.sync(() => assert.strictEqual(status, 200, text))
  )

/** A second vendor of everything, on a port of its own. */
const startSimulator = Effect.gen(function* () {
  const built = Layer.build(Layer.fresh(layerSimulator({ port: 0 })))
  return Context.get(yield* built, Simulator)
})

for (const database of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(database), { excludeTestServices: true, timeout: "60 seconds" })(
    `keys and the origins they were given for (${database})`,
    (it) => {
      it.effect.each([
        ["its key", {}, ["channels[0].api_key"]],
        ["its key written as null", { api_key: null }, ["channels[0].api_key"]],
        ["its key while it is off", { enabled: false }, ["channels[0].api_key"]],
        [
          "its key in a list",
          { api_keys: [{ name: "fresh", api_key: "k" }, { name: "default" }] },
          ["channels[0].api_keys[1].api_key"]
        ],
        [
          "its key in a list, switched off",
          { api_keys: [{ name: "default", enabled: false }] },
          ["channels[0].api_keys[0].api_key"]
        ]
      ] as const)("a channel that leads elsewhere does not take along %s", ([, more, faults]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const thief = yield* brokenVendor({ body: {} })
          const before = yield* gateway.admin("/catalog")
          const stolen = (channel: ChannelJson) => ({ ...channel, base_url: thief.url, ...more })
          for (const answer of [yield* put(stolen), yield* preview(stolen)]) {
            assert.strictEqual(answer.status, 400, answer.text)
            const error = yield* errorOf(answer)
            assert.strictEqual(error.param, faults[0])
            assert.deepStrictEqual(
              error.faults?.map(({ path }) => path),
              [...faults]
            )
            assert.match(error.message, /another origin than .*its key has to be given again/)
          }
          yield* gateway.admin("/channels/ch-a/test", { method: "POST" })
          assert.deepStrictEqual(yield* thief.requests, [])
          assert.strictEqual((yield* gateway.admin("/catalog")).text, before.text)
        })
      )

      it.effect("nor does one that has left the catalog and comes back", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const thief = yield* brokenVendor({ body: {} })
          yield* gateway.admin("/catalog", {
            method: "PUT",
            json: { channels: [], models: [], mounts: [] }
          })
          const back = yield* put((channel) => ({ ...channel, base_url: thief.url }))
          assert.strictEqual((yield* errorOf(back)).param, "channels[0].api_key", back.text)
          // Where it was it is still at home.
          assert.strictEqual((yield* put((channel) => channel)).status, 200)
          const who = yield* gateway.customer("100")
          yield* finishVideo(who, yield* createVideo(who, { model: "film-1" }))
        })
      )

      it.effect("nor does a row that somebody has led elsewhere", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const sql = yield* SqlClient.SqlClient
          const { changeAndNotify } = yield* Changes
          const thief = yield* brokenVendor({ body: {} })
          const led = (url: string) =>
            Effect.orDie(
              changeAndNotify(
                "catalog",
                sql`UPDATE channel_accounts SET base_url = ${url} WHERE channel_id = 'ch-a'`
              )
            )
          yield* led(thief.url)
          const who = yield* gateway.customer("100")
          assert.strictEqual((yield* orderVideo(who, { model: "film-1" })).status, 503)
          yield* gateway.admin("/channels/ch-a/test", { method: "POST" })
          assert.deepStrictEqual(yield* thief.requests, [])
          yield* led(`${gateway.simulator.url}/vp_a`)
          assert.strictEqual((yield* orderVideo(who, { model: "film-1" })).status, 200)
        })
      )

      it.effect("tasks are asked where they were made, wherever the channel leads meanwhile", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const other = yield* startSimulator
          const who = yield* gateway.customer("100")
          const prompt = "sim:takes=1"
          const first = yield* createVideo(who, { model: "film-1", prompt })
          yield* withKey(`${other.url}/vp_a`, "vendor-key-bbbb")
          const second = yield* createVideo(who, { model: "film-1", prompt })
          // The key is replaced, and then the channel leaves.
          yield* withKey(`${other.url}/vp_a`, "vendor-key-cccc")
          const third = yield* createVideo(who, { model: "film-1", prompt })
          yield* gateway.admin("/catalog", {
            method: "PUT",
            json: { channels: [], models: [], mounts: [] }
          })
          for (const id of [first, second, third]) {
            assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
          }
          const polls = (yield* other.requests).filter(({ method }) => method === "GET")
          assert.sameMembers([...new Set(polls.map(({ key_hint }) => key_hint))], ["bbbb", "cccc"])
          yield* withKey(`${gateway.simulator.url}/vp_a`, "vendor-key-a")
          yield* gateway.verify
        }).pipe(Effect.scoped)
      )

      it.effect("a key that made way and is revoked is followed by those of its origin", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const url = `${gateway.simulator.url}/vp_a`
          const who = yield* gateway.customer("100")
          yield* withKey(url, "vendor-key-aaaa")
          const id = yield* createVideo(who, { model: "film-1", prompt: "sim:takes=1" })
          yield* withKey(url, "vendor-key-bbbb")
          yield* trouble("aaaa", "sim:refuse=401")
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
          yield* trouble("aaaa", "")
          // Its rest is its own, and orders go on with the key that took its place.
          assert.isNull((yield* channelNow("ch-a")).keys[0]?.rest)
          assert.strictEqual((yield* orderVideo(who, { model: "film-1" })).status, 200)
          yield* withKey(url, "vendor-key-a")
        })
      )
    }
  )
}
