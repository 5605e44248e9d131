/** Channel accounts in PostgreSQL, their keys sealed by the vault with the channel id. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChannelUnavailable } from "../../domain/Errors.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import { ChannelCredentials } from "../../services/Catalog.ts"
import { CannotOpen, Vault } from "../../services/Vault.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

const AccountRow = Schema.Struct({
  channel_id: Schema.String,
  base_url: Schema.String,
  app_id: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  sealed_api_key: Schema.NullOr(Schema.Uint8Array)
})

const KeyedRow = Schema.Struct({ channel_id: Schema.String })
const SealerRow = Schema.Struct({ key_id: Schema.String })

const CACHED_ACCOUNTS = 10_000

/** Fails when keys of channels are stored and none of them can be opened: the master key is wrong. */
const requireMasterKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { keyIds } = yield* Vault
  const rows = yield* rowsOf(SealerRow)(
    repeatable(
      sql`SELECT DISTINCT key_id FROM channel_accounts WHERE key_id IS NOT NULL ORDER BY key_id`
    )
  )
  const sealers = rows.map((row) => row.key_id)
  if (sealers.length > 0 && !sealers.some((keyId) => keyIds.includes(keyId))) {
    return yield* new CannotOpen({
      message:
        `The keys of the channels belong to the master key with the id ${sealers.join(" and ")}, ` +
        `and only ${keyIds.join(" and ")} can be used here`
    })
  }
})

export const layerChannelCredentials = Layer.effect(
  ChannelCredentials,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    yield* requireMasterKey

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

    // Also that there is none: a mount beside others may lack it for long.
    const find = yield* makeFreshCache({
      topic: "catalog",
      capacity: CACHED_ACCOUNTS,
      lookup: (channelId) => Effect.result(read(channelId))
    })

    const withKey = Effect.map(
      rowsOf(KeyedRow)(
        repeatable(sql`SELECT channel_id FROM channel_accounts WHERE sealed_api_key IS NOT NULL`)
      ),
      (rows) => new Set(rows.map((row) => row.channel_id))
    )

    return ChannelCredentials.of({
      account: (channelId) => Effect.flatMap(find(channelId), Effect.fromResult),
      store: Effect.fn("ChannelCredentials.store")(function* (channels) {
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
      }),
      withKey
    })
  })
)
