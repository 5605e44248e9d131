/** Channel accounts in memory; nothing but `account` gives their keys out. */
import { Effect, Layer } from "effect"
import { ChannelUnavailable } from "../../domain/Errors.ts"
import { ChannelCredentials } from "../../services/Catalog.ts"
import { MemoryStore } from "./MemoryStore.ts"

export const layerChannelCredentialsMemory = Layer.effect(
  ChannelCredentials,
  Effect.gen(function* () {
    const { accounts } = yield* MemoryStore

    const account: ChannelCredentials["Service"]["account"] = Effect.fn(
      "ChannelCredentials.account"
    )(function* (channelId) {
      const { baseUrl, appId, apiKey = null } = accounts.get(channelId) ?? {}
      if (baseUrl === undefined || appId === undefined || apiKey === null) {
        return yield* new ChannelUnavailable({
          message: "The channel of this model has no usable credentials at the moment",
          param: "model"
        })
      }
      return { channelId, baseUrl, apiKey, appId }
    })

    const store: ChannelCredentials["Service"]["store"] = Effect.fn("ChannelCredentials.store")(
      (channels) =>
        Effect.sync(() => {
          for (const { id, base_url, app_id, api_key } of channels) {
            const apiKey = api_key ?? accounts.get(id)?.apiKey ?? null
            accounts.set(id, { baseUrl: base_url, appId: app_id, apiKey })
          }
        })
    )

    const withKey = Effect.sync(
      () => new Set([...accounts].flatMap(([id, { apiKey }]) => (apiKey === null ? [] : [id])))
    )

    return ChannelCredentials.of({ account, store, withKey })
  })
)
