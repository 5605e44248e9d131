/** What every store of channel accounts must do. */
import { inspect } from "node:util"
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Changes } from "../../src/runtime/Changes.ts"
import { ChannelCredentials } from "../../src/services/Catalog.ts"
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
const store = Effect.fnUntraced(function* (channels: ReadonlyArray<ReturnType<typeof channel>>) {
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
      const account = yield* credentials.account(id)
      assert.deepStrictEqual(
        { ...account, apiKey: Redacted.value(account.apiKey) },
        {
          channelId: id,
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
        const error = yield* Effect.flip(credentials.account(id))
        assert.strictEqual(error._tag, "channel_unavailable")
        assert.notInclude(error.message, id)
      }
    })
  )

  it.effect("keeps the key of a channel that is written without one, and takes a new one", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const id = yield* freshId
      const keyNow = Effect.map(credentials.account(id), ({ apiKey, baseUrl }) => [
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
      assert.strictEqual(Redacted.value((yield* credentials.account(gone)).apiKey), "of gone")
    })
  )

  it.effect("knows which channels have a key", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const [keyed, keyless] = [yield* freshId, yield* freshId]
      yield* store([channel(keyed, "k"), channel(keyless)])
      const withKey = yield* credentials.withKey
      assert.deepStrictEqual([withKey.has(keyed), withKey.has(keyless)], [true, false])
    })
  )
}
