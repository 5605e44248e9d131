/** Channel accounts in PostgreSQL, their keys sealed by the vault with the channel id. */
import { Effect, Layer, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChannelUnavailable } from "../domain/Errors.ts"
import { ChannelCredentials } from "../services/ChannelCredentials.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { Vault } from "../services/Vault.ts"
import { repeatable, rowsOf } from "./rows.ts"

const AccountRow = Schema.Struct({
  channel_id: Schema.String,
  base_url: Schema.String,
  app_id: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  sealed_api_key: Schema.NullOr(Schema.Uint8Array)
})

const KeyedRow = Schema.Struct({ channel_id: Schema.String })

export const layerChannelCredentials = Layer.effect(
  ChannelCredentials,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const cache = yield* Ref.make<ReadonlyMap<string, ChannelAccount>>(new Map())

    const unavailable = (channelId: string, why: string) =>
      Effect.logError(`channel ${channelId} cannot be used: ${why}`).pipe(
        Effect.andThen(
          Effect.fail(
            new ChannelUnavailable({
              message: "The channel of this model has no usable credentials at the moment",
              param: "model"
            })
          )
        )
      )

    const read = Effect.fnUntraced(function* (channelId: string) {
      const [row] = yield* rowsOf(AccountRow)(
        repeatable(sql`
          SELECT channel_id, base_url, app_id, key_id, sealed_api_key
            FROM channel_accounts WHERE channel_id = ${channelId}`)
      )
      if (row === undefined || row.key_id === null || row.sealed_api_key === null) {
        return yield* unavailable(channelId, "no key is stored")
      }
      const apiKey = yield* vault
        .open({ keyId: row.key_id, bytes: row.sealed_api_key }, channelId)
        .pipe(Effect.catchTag("CannotOpen", ({ message }) => unavailable(channelId, message)))
      return { channelId, baseUrl: row.base_url, apiKey, appId: row.app_id }
    })

    const account: ChannelCredentials["Service"]["account"] = Effect.fn(
      "ChannelCredentials.account"
    )(function* (channelId) {
      const before = yield* Ref.get(cache)
      const cached = before.get(channelId)
      if (cached !== undefined) return cached
      const fresh = yield* read(channelId)
      // What was read before a refresh may be older than the refresh, so it is used but not kept.
      yield* Ref.update(cache, (now) =>
        now === before ? new Map([...now, [channelId, fresh]]) : now
      )
      return fresh
    })

    const store: ChannelCredentials["Service"]["store"] = Effect.fn("ChannelCredentials.store")(
      function* (channels) {
        for (const channel of channels) {
          const apiKey = channel.api_key ?? null
          const sealed = apiKey === null ? null : yield* vault.seal(apiKey, channel.id)
          yield* Effect.orDie(sql`
            INSERT INTO channel_accounts (channel_id, base_url, app_id, key_id, sealed_api_key)
            VALUES (${channel.id}, ${channel.base_url}, ${channel.app_id},
                    ${sealed?.keyId ?? null}, ${sealed?.bytes ?? null})
            ON CONFLICT (channel_id) DO UPDATE
               SET base_url = excluded.base_url, app_id = excluded.app_id, updated_at = now(),
                   key_id = coalesce(excluded.key_id, channel_accounts.key_id),
                   sealed_api_key =
                     coalesce(excluded.sealed_api_key, channel_accounts.sealed_api_key)`)
        }
      }
    )

    const withKey = Effect.map(
      rowsOf(KeyedRow)(
        sql`SELECT channel_id FROM channel_accounts WHERE sealed_api_key IS NOT NULL`
      ),
      (rows) => new Set(rows.map((row) => row.channel_id))
    )

    return ChannelCredentials.of({ account, store, withKey, refresh: Ref.set(cache, new Map()) })
  })
)
