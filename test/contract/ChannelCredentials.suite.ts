/** What every store of channel accounts must do. */
import { inspect } from "node:util"
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ChannelWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { Changes } from "../../src/runtime/Changes.ts"
import { ChannelCredentials } from "../../src/services/channels/ChannelCredentials.ts"
import type { Stores } from "../support/ledger.ts"

const channel = (id: string, apiKey?: string | null, baseUrl = "http://vendor.test") => ({
  id,
  name: id,
  base_url: baseUrl,
  app_id: "app-7",
  enabled: true,
  ...(apiKey === undefined ? {} : { api_key: apiKey === null ? null : Redacted.make(apiKey) })
})

/** Written as the catalog writes accounts: in a change that everybody hears of. */
const store = Effect.fnUntraced(function* (channels: ReadonlyArray<ChannelWrite>) {
  const credentials = yield* ChannelCredentials
  const changes = yield* Changes
  yield* Effect.orDie(changes.telling("catalog", credentials.store(channels)))
})

const freshId = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

export const channelCredentialsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("gives out the account that was stored, its key readable by adapters alone", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const id = yield* freshId
      yield* store([channel(id, "secret-key")])
      const { all, forOrders } = yield* credentials.accounts(id)
      const [account] = all
      assert.deepStrictEqual(forOrders, all)
      assert.deepStrictEqual(
        { ...account, apiKey: Redacted.value(account.apiKey) },
        {
          channelId: id,
          keyName: "default",
          baseUrl: "http://vendor.test",
          apiKey: "secret-key",
          appId: "app-7"
        }
      )
      const shown = `${JSON.stringify(account)} ${inspect(account, { depth: null })}`
      assert.notInclude(shown, "secret-key")
    })
  )

  it.effect("has no usable account for a channel nobody stored, or stored without a key", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const [unknown, keyless] = [yield* freshId, yield* freshId]
      yield* store([channel(keyless), channel(yield* freshId, "another")])
      for (const id of [unknown, keyless]) {
        const error = yield* Effect.flip(credentials.accounts(id))
        assert.strictEqual(error._tag, "channel_unavailable")
        assert.notInclude(error.message, id)
      }
    })
  )

  it.effect("keeps the key of a channel that is written without one, and takes a new one", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const id = yield* freshId
      const keyNow = Effect.map(credentials.accounts(id), ({ all: [{ apiKey, baseUrl }] }) => [
        Redacted.value(apiKey),
        baseUrl
      ])
      yield* store([channel(id, "first")])
      yield* keyNow
      yield* store([channel(id, undefined, "http://moved.test")])
      assert.deepStrictEqual(yield* keyNow, ["first", "http://moved.test"])
      yield* store([channel(id, null)])
      assert.deepStrictEqual(yield* keyNow, ["first", "http://vendor.test"])
      yield* store([channel(id, "second")])
      assert.deepStrictEqual(yield* keyNow, ["second", "http://vendor.test"])
    })
  )

  it.effect("keeps an account whose channel is not written any more", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const [gone, stays] = [yield* freshId, yield* freshId]
      yield* store([channel(gone, "of gone"), channel(stays, "of stays")])
      yield* store([channel(stays)])
      assert.strictEqual(
        Redacted.value((yield* credentials.accounts(gone)).all[0].apiKey),
        "of gone"
      )
    })
  )

  it.effect("knows which keys of channels are stored", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const [keyed, keyless] = [yield* freshId, yield* freshId]
      yield* store([channel(keyed, "k"), channel(keyless)])
      const stored = yield* credentials.storedKeys
      assert.deepStrictEqual([...(stored.get(keyed) ?? [])], ["default"])
      assert.strictEqual(stored.get(keyless)?.size ?? 0, 0)
    })
  )

  it.effect("keeps several keys of a channel by name, and forgets those not written any more", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const id = yield* freshId
      const keys = Effect.map(credentials.accounts(id), ({ all, forOrders }) => ({
        all: Object.fromEntries(
          all.map(({ keyName, apiKey }) => [keyName, Redacted.value(apiKey)])
        ),
        forOrders: forOrders.map(({ keyName }) => keyName)
      }))
      const key = (name: string, value: string | null, enabled = true) => ({
        name,
        enabled,
        ...(value === null ? {} : { api_key: Redacted.make(value) })
      })
      const written = (...api_keys: ReadonlyArray<ReturnType<typeof key>>) =>
        store([{ ...channel(id), api_keys }])

      yield* written(key("a", "of a"), key("b", "of b", false))
      assert.deepStrictEqual(yield* keys, { all: { a: "of a", b: "of b" }, forOrders: ["a"] })
      yield* written(key("a", null, false), key("b", "new"), key("c", null))
      assert.deepStrictEqual(yield* keys, { all: { a: "of a", b: "new" }, forOrders: ["b"] })
      yield* store([{ ...channel(id, "alone"), api_keys: [key("b", null)] }])
      assert.deepStrictEqual(yield* keys, {
        all: { b: "new", default: "alone" },
        forOrders: ["b", "default"]
      })
      yield* store([channel(id)])
      assert.deepStrictEqual(yield* keys, { all: { default: "alone" }, forOrders: ["default"] })
    })
  )
}
