/** Channel accounts in PostgreSQL, their keys sealed by the vault with the channel id. */
import { Array as Arr, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { writtenKeys } from "../../domain/catalog/channelKeys.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  ChannelCredentials,
  type KeyedAccount,
  noCredentials
} from "../../services/channels/ChannelCredentials.ts"
import { CannotOpen, Vault } from "../../services/Vault.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

const AccountRow = Schema.Struct({
  base_url: Schema.String,
  app_id: Schema.NullOr(Schema.String),
  name: Schema.String,
  key_id: Schema.String,
  sealed_api_key: Schema.Uint8Array,
  enabled: Schema.Boolean
})

const KeyedRow = Schema.Struct({ channel_id: Schema.String, name: Schema.String })
const SealerRow = Schema.Struct({ key_id: Schema.String })

const CACHED_ACCOUNTS = 10_000

/** Fails when secrets are stored and none of them can be opened: the master key is wrong. */
const requireMasterKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { keyIds } = yield* Vault
  const rows = yield* rowsOf(SealerRow)(
    repeatable(sql`SELECT key_id FROM channel_keys
                   UNION SELECT secret_key_id FROM webhook_endpoints ORDER BY 1`)
  )
  const sealers = rows.map((row) => row.key_id)
  if (sealers.length > 0 && !sealers.some((keyId) => keyIds.includes(keyId))) {
    return yield* new CannotOpen({
      message:
        `What is stored sealed belongs to the master key with the id ${sealers.join(" and ")}, ` +
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

    const accountOf = (channelId: string, row: typeof AccountRow.Type) =>
      vault.open({ keyId: row.key_id, bytes: row.sealed_api_key }, channelId).pipe(
        Effect.map((apiKey) => ({
          account: {
            channelId,
            keyName: row.name,
            baseUrl: row.base_url,
            apiKey,
            appId: row.app_id
          },
          enabled: row.enabled
        })),
        Effect.tapError(({ message }) =>
          Effect.logError(`key ${row.name} of channel ${channelId} cannot be used: ${message}`)
        ),
        Effect.option
      )

    const read = Effect.fnUntraced(function* (channelId: string) {
      const rows = yield* rowsOf(AccountRow)(
        repeatable(sql`
          SELECT a.base_url, a.app_id, k.name, k.key_id, k.sealed_api_key, k.enabled
            FROM channel_accounts a JOIN channel_keys k USING (channel_id)
           WHERE a.channel_id = ${channelId} ORDER BY k.name`)
      )
      const opened = yield* Effect.forEach(rows, (row) => accountOf(channelId, row))
      const usable = opened.flatMap(Option.toArray)
      const all: ReadonlyArray<KeyedAccount> = usable.map(({ account }) => account)
      if (!Arr.isReadonlyArrayNonEmpty(all)) {
        const why = rows.length === 0 ? "no key is stored" : "none of its keys can be opened"
        yield* Effect.logError(`channel ${channelId} cannot be used: ${why}`)
        return yield* noCredentials()
      }
      const forOrders = usable.flatMap(({ account, enabled }) => (enabled ? [account] : []))
      return { forOrders, all }
    })

    // Also that there is none: a mount beside others may lack it for long.
    const find = yield* makeFreshCache({
      topic: "catalog",
      capacity: CACHED_ACCOUNTS,
      lookup: (channelId) => Effect.result(read(channelId))
    })

    const storedKeys = Effect.map(
      rowsOf(KeyedRow)(repeatable(sql`SELECT channel_id, name FROM channel_keys`)),
      (rows) =>
        new Map(
          [...Map.groupBy(rows, (row) => row.channel_id)].map(([channelId, keys]) => [
            channelId,
            new Set(keys.map(({ name }) => name))
          ])
        )
    )

    return ChannelCredentials.of({
      accounts: (channelId) => Effect.flatMap(find(channelId), Effect.fromResult),
      store: Effect.fn("ChannelCredentials.store")(function* (channels) {
        for (const channel of channels) {
          const { id } = channel
          yield* sql`
            INSERT INTO channel_accounts (channel_id, base_url, app_id)
            VALUES (${id}, ${channel.base_url}, ${channel.app_id})
            ON CONFLICT (channel_id) DO UPDATE
               SET base_url = excluded.base_url, app_id = excluded.app_id, updated_at = now()`
          const keys = writtenKeys(channel)
          yield* sql`
            DELETE FROM channel_keys
             WHERE channel_id = ${id} AND name <> ALL (${keys.map(({ name }) => name)}::text[])`
          for (const { name, enabled, api_key = null } of keys) {
            if (api_key === null) {
              yield* sql`UPDATE channel_keys SET enabled = ${enabled}
                          WHERE channel_id = ${id} AND name = ${name}`
              continue
            }
            const { keyId, bytes } = yield* vault.seal(api_key, id)
            yield* sql`
              INSERT INTO channel_keys (channel_id, name, key_id, sealed_api_key, enabled)
              VALUES (${id}, ${name}, ${keyId}, ${bytes}, ${enabled})
              ON CONFLICT (channel_id, name) DO UPDATE
                 SET key_id = excluded.key_id, sealed_api_key = excluded.sealed_api_key,
                     enabled = excluded.enabled`
            // A new value has not been refused yet.
            yield* sql`DELETE FROM rests WHERE channel_id = ${id} AND key_name = ${name}`
          }
        }
      }, Effect.orDie),
      storedKeys
    })
  })
)
