/** What every store of channel accounts must do. */
import { inspect } from "node:util"
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ChannelWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { Changes } from "../../src/runtime/Changes.ts"
import { ChannelCredentials } from "../../src/services/channels/ChannelCredentials.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import type { Stores } from "../support/ledger.ts"
import { submittedTasks, upstream } from "../support/tasks.ts"

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
  yield* Effect.orDie(changes.changeAndNotify("catalog", credentials.store(channels)))
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
          appId: "app-7",
          origin: "http://vendor.test",
          version: 1,
          isSuperseded: false
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
      for (const spelling of ["http://vendor.test/v2", "HTTP://Vendor.test:80/v2"]) {
        yield* store([channel(id, undefined, spelling)])
        assert.deepStrictEqual(yield* keyNow, ["first", spelling])
      }
      yield* store([channel(id, null)])
      assert.deepStrictEqual(yield* keyNow, ["first", "http://vendor.test"])
      yield* store([channel(id, "second")])
      assert.deepStrictEqual(yield* keyNow, ["second", "http://vendor.test"])
    })
  )

  it.effect(
    "leaves a key behind where the address has another origin, and does not find it again",
    () =>
      Effect.gen(function* () {
        const credentials = yield* ChannelCredentials
        const elsewhere = [
          "http://moved.test",
          "https://vendor.test",
          "http://vendor.test:81",
          "http://vendor.test."
        ]
        for (const address of elsewhere) {
          const id = yield* freshId
          yield* store([channel(id, "first")])
          yield* store([channel(id, undefined, address)])
          assert.strictEqual(
            (yield* Effect.flip(credentials.accounts(id)))._tag,
            "channel_unavailable"
          )
          assert.isFalse((yield* credentials.storedKeys).has(id))
          yield* store([channel(id)])
          yield* Effect.flip(credentials.accounts(id))
          yield* store([channel(id, "second", address)])
          const { all } = yield* credentials.accounts(id)
          assert.deepStrictEqual(
            all.map(({ apiKey, baseUrl }) => [Redacted.value(apiKey), baseUrl]),
            [["second", address]]
          )
        }
      })
  )

  it.effect("has the account that made a task, and after it the others of that origin alone", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const id = yield* freshId
      const taskAccounts = (version: number) =>
        Effect.map(credentials.taskAccounts(id, version), (accounts) =>
          accounts.map(({ apiKey, baseUrl, keyName, isSuperseded }) =>
            [keyName, Redacted.value(apiKey), baseUrl, isSuperseded].join(" ")
          )
        )
      const key = (name: string, value?: string) => ({
        name,
        enabled: true,
        ...(value === undefined ? {} : { api_key: Redacted.make(value) })
      })
      const here = "http://vendor.test"
      const there = "http://moved.test"

      yield* store([{ ...channel(id), api_keys: [key("a", "a1"), key("b", "b1")] }])
      assert.deepStrictEqual(yield* taskAccounts(1), [`a a1 ${here} false`, `b b1 ${here} false`])
      // The same value again is no other account.
      yield* store([{ ...channel(id), api_keys: [key("a", "a1"), key("b")] }])
      assert.deepStrictEqual(yield* taskAccounts(1), [`a a1 ${here} false`, `b b1 ${here} false`])
      yield* store([{ ...channel(id), api_keys: [key("a", "a2"), key("b")] }])
      assert.deepStrictEqual(yield* taskAccounts(1), [
        `a a1 ${here} true`,
        `b b1 ${here} true`,
        `a a2 ${here} false`
      ])
      assert.deepStrictEqual(yield* taskAccounts(2), [
        `a a2 ${here} false`,
        `b b1 ${here} false`,
        `a a1 ${here} true`
      ])
      yield* store([{ ...channel(id, undefined, there), api_keys: [key("a", "a3")] }])
      assert.deepStrictEqual(yield* taskAccounts(3), [`a a3 ${there} false`])
      assert.deepStrictEqual(yield* taskAccounts(2), [
        `a a2 ${here} true`,
        `b b1 ${here} true`,
        `a a1 ${here} true`
      ])
      // Back, with a key of another name: the others are not written any more, and forgotten here too.
      yield* store([{ ...channel(id), api_keys: [key("c", "c4")] }])
      assert.deepStrictEqual(yield* taskAccounts(1), [`c c4 ${here} false`])
      assert.deepStrictEqual(yield* taskAccounts(3), [`a a3 ${there} true`])
      yield* Effect.flip(credentials.taskAccounts(id, 9))
    })
  )

  it.effect("an application id is its account's", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const id = yield* freshId
      yield* store([channel(id, "k")])
      yield* store([{ ...channel(id), app_id: "app-8" }])
      const ids = Effect.map(credentials.taskAccounts(id, 1), (accounts) =>
        accounts.map(({ appId }) => appId)
      )
      assert.deepStrictEqual(yield* ids, ["app-7", "app-8"])
      assert.strictEqual((yield* credentials.accounts(id)).all[0].appId, "app-8")
    })
  )

  it.effect("forgets an account that made way once no task of it runs", () =>
    Effect.gen(function* () {
      const credentials = yield* ChannelCredentials
      const changes = yield* Changes
      const repo = yield* TaskRepo
      const ledger = yield* Ledger
      const id = yield* freshId
      yield* store([channel(id, "first")])
      const { organizationId, ids } = yield* submittedTasks(id, 2)
      yield* store([channel(id, "second", "http://moved.test")])
      const isKept = Effect.gen(function* () {
        yield* Effect.orDie(changes.changeAndNotify("catalog", credentials.forgetSuperseded(0)))
        return yield* Effect.isSuccess(credentials.taskAccounts(id, 1))
      })
      const end = (holdId: string, from: "submitting" | "processing") =>
        ledger.release({
          organizationId,
          holdId,
          by: "sweep",
          orphan: null,
          answer: null,
          forgetKey: false,
          task: { from, state: "failed", errorCode: "x", errorMessage: "x" }
        })
      const [stays = "", goes = ""] = ids
      assert.isTrue(yield* isKept)
      yield* end(goes, "submitting")
      yield* repo.accept(organizationId, stays, upstream("up"), 3600)
      assert.isTrue(yield* isKept)
      yield* end(stays, "processing")
      yield* credentials.forgetSuperseded(3600)
      assert.isTrue(yield* Effect.isSuccess(credentials.taskAccounts(id, 1)))
      assert.isFalse(yield* isKept)
      assert.isTrue(yield* Effect.isSuccess(credentials.taskAccounts(id, 2)))
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
      assert.deepStrictEqual([...(stored.get(keyed)?.names ?? [])], ["default"])
      assert.strictEqual(stored.get(keyless)?.names.size ?? 0, 0)
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
