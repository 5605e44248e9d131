/** Channel accounts in PostgreSQL. The vault seals each key for its channel and origin. */
import { Array as Arr, Effect, Equal, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { ChannelKeyWrite, ChannelWrite } from "../../domain/catalog/CatalogDocument.ts"
import { writtenKeys } from "../../domain/catalog/channelKeys.ts"
import { originOf } from "../../domain/catalog/origin.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  type AccountVersion,
  accountsOfTask,
  ChannelCredentials,
  type KeyedAccount,
  noCredentials
} from "../../services/channels/ChannelCredentials.ts"
import { CannotOpen, Vault } from "../../services/Vault.ts"
import { columnsOf, decodeRows, retryBriefly, rowsOf, runOnce } from "../client/rows.ts"

/** One key of an account. The last four columns are null for an account without keys. */
const AccountRow = Schema.Struct({
  channelId: Schema.String,
  version: Schema.Int,
  baseUrl: Schema.String,
  appId: Schema.NullOr(Schema.String),
  isSuperseded: Schema.Boolean,
  name: Schema.NullOr(Schema.String),
  keyId: Schema.NullOr(Schema.String),
  sealed: Schema.NullOr(Schema.Uint8Array),
  enabled: Schema.NullOr(Schema.Boolean)
})
type AccountRow = typeof AccountRow.Type

const accountColumns = columnsOf(AccountRow, "k", {
  channelId: "a.channel_id",
  version: "a.version",
  baseUrl: "a.base_url",
  appId: "a.app_id",
  isSuperseded: "a.superseded_at IS NOT NULL",
  sealed: "k.sealed_api_key"
})

const StoredRow = Schema.Struct({
  channelId: Schema.String,
  baseUrl: Schema.String,
  name: Schema.String
})
const SealerRow = Schema.Struct({ key_id: Schema.String })

const CACHED_ACCOUNTS = 10_000

/** Fails when secrets are stored and none of them can be opened: the master key is wrong. */
const requireMasterKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { keyIds } = yield* Vault
  const rows = yield* rowsOf(SealerRow)(
    retryBriefly(sql`SELECT key_id FROM channel_keys
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

    /** All accounts of the channels, the newest first, with one row for each key of an account. */
    const accountRows = (channelIds: ReadonlyArray<string>) => sql`
      SELECT ${sql.literal(accountColumns)}
        FROM channel_accounts a LEFT JOIN channel_keys k USING (channel_id, version)
       WHERE a.channel_id = ANY (${channelIds}::text[])
       ORDER BY a.channel_id, a.version DESC, k.name`

    /**
     * Opens a stored key, which succeeds only for the channel and the origin that the key was
     * sealed for.
     */
    const openAccount = Effect.fnUntraced(function* (row: AccountRow) {
      const { channelId, baseUrl, appId, version, isSuperseded, name, keyId, sealed } = row
      if (name === null || keyId === null || sealed === null) return null
      const origin = originOf(baseUrl)
      if (origin === null) {
        return yield* new CannotOpen({ message: "Its base address leads nowhere" })
      }
      const apiKey = yield* vault.open({ keyId, bytes: sealed }, channelId, origin)
      const account = { channelId, keyName: name, baseUrl, apiKey, appId }
      return { ...account, origin, version, isSuperseded } satisfies KeyedAccount
    })

    /**
     * The account with its opened key; null where the account has no key, or its key cannot be
     * opened.
     */
    const usableAccount = (row: AccountRow) =>
      openAccount(row).pipe(
        Effect.tapError(({ message }) =>
          Effect.logError("channel: stored key is not usable").pipe(
            Effect.annotateLogs({ channel: row.channelId, key_name: row.name, cause: message })
          )
        ),
        Effect.orElseSucceed(() => null)
      )

    const read = Effect.fnUntraced(function* (channelId: string) {
      const rows = yield* rowsOf(AccountRow)(retryBriefly(accountRows([channelId])))
      const openedAccounts = yield* Effect.forEach(rows, (row) =>
        Effect.map(usableAccount(row), (account) => ({ row, account }))
      )
      const versions = [...Map.groupBy(openedAccounts, ({ row }) => row.version)].map(
        ([version, keys]): AccountVersion => ({
          version,
          origin: originOf(keys[0]?.row.baseUrl ?? ""),
          accounts: keys.flatMap(({ account }) => account ?? [])
        })
      )
      const current = openedAccounts.filter(({ row }) => !row.isSuperseded)
      const all = current.flatMap(({ account }) => account ?? [])
      const isEnabled = ({ keyName }: KeyedAccount) =>
        current.some(({ row }) => row.name === keyName && row.enabled === true)
      if (Arr.isReadonlyArrayNonEmpty(all)) {
        return { versions, accounts: { all, forOrders: all.filter(isEnabled) } }
      }
      const isKeyless = current.every(({ row }) => row.name === null)
      const reason = isKeyless ? "no key is stored" : "none of its keys can be opened"
      yield* Effect.logError("channel: no usable key").pipe(
        Effect.annotateLogs({ channel: channelId, cause: reason })
      )
      return { versions, accounts: null }
    })

    // A missing account is cached as well: a channel may be without an account for a long time,
    // while orders of its models go to other mounts.
    const find = yield* makeFreshCache({
      topic: "catalog",
      capacity: CACHED_ACCOUNTS,
      lookup: read
    })

    const storedKeys = Effect.map(
      rowsOf(StoredRow)(
        retryBriefly(sql`
          SELECT a.channel_id AS "channelId", a.base_url AS "baseUrl", k.name
            FROM channel_accounts a JOIN channel_keys k USING (channel_id, version)
           WHERE a.superseded_at IS NULL`)
      ),
      (rows) =>
        new Map(
          [...Map.groupBy(rows, ({ channelId }) => channelId)].map(([channelId, keys]) => [
            channelId,
            {
              origin: originOf(keys[0]?.baseUrl ?? ""),
              names: new Set(keys.map(({ name }) => name))
            }
          ])
        )
    )

    /**
     * Whether storing this key needs a new version of the account. It does where the account has a
     * key of this name with another value. It also does where the account has no key of this name,
     * since a running task may have been created with a deleted key of this name.
     */
    const isNew = (
      { name, api_key = null }: ChannelKeyWrite,
      current: ReadonlyArray<AccountRow>
    ) => {
      const row = current.find((one) => one.name === name)
      if (api_key === null || row === undefined) return Effect.succeed(api_key !== null)
      return openAccount(row).pipe(
        Effect.map((stored) => stored !== null && !Equal.equals(stored.apiKey, api_key)),
        // A stored key that cannot be opened is useless to the tasks created with it, so it can be
        // replaced without a new version.
        Effect.orElseSucceed(() => false)
      )
    }

    /**
     * The version of the account that a write of the channel changes. A change of the address, the
     * application id or the value of a key creates a new version, which supersedes the account. The
     * new version takes over the sealed keys if the origin is the same.
     */
    const versionFor = Effect.fnUntraced(function* (
      { id, base_url, app_id }: ChannelWrite,
      keys: ReadonlyArray<ChannelKeyWrite>,
      current: ReadonlyArray<AccountRow>
    ) {
      const [currentRow] = current
      const isSame = currentRow?.baseUrl === base_url && currentRow.appId === app_id
      const newFlags = yield* Effect.forEach(keys, (key) => isNew(key, current))
      if (currentRow !== undefined && isSame && !newFlags.includes(true)) return currentRow.version
      const version = (currentRow?.version ?? 0) + 1
      yield* sql`
        UPDATE channel_accounts SET superseded_at = now()
         WHERE channel_id = ${id} AND superseded_at IS NULL`
      yield* sql`
        INSERT INTO channel_accounts (channel_id, version, base_url, app_id)
        VALUES (${id}, ${version}, ${base_url}, ${app_id})`
      if (currentRow !== undefined && originOf(currentRow.baseUrl) === originOf(base_url)) {
        yield* sql`
          INSERT INTO channel_keys (channel_id, version, name, key_id, sealed_api_key, enabled)
          SELECT channel_id, ${version}, name, key_id, sealed_api_key, enabled FROM channel_keys
           WHERE channel_id = ${id} AND version = ${currentRow.version}`
      }
      return version
    })

    const storeChannel = Effect.fnUntraced(function* (
      channel: ChannelWrite,
      rows: ReadonlyArray<AccountRow>
    ) {
      const { id } = channel
      const origin = originOf(channel.base_url)
      if (origin === null) return yield* Effect.die(new Error(`channel ${id} leads nowhere`))
      const keys = writtenKeys(channel)
      const current = rows.filter(({ isSuperseded }) => !isSuperseded)
      const version = yield* versionFor(channel, keys, current)
      const names = keys.map(({ name }) => name)
      // A key that the write leaves out is deleted from every version of the account with the same
      // origin, even where tasks were created with the key.
      const versions = rows.filter(({ baseUrl }) => originOf(baseUrl) === origin)
      if (versions.some(({ name }) => name !== null && !names.includes(name))) {
        yield* sql`
          DELETE FROM channel_keys
           WHERE channel_id = ${id}
             AND version = ANY (${[version, ...versions.map((row) => row.version)]}::int[])
             AND name <> ALL (${names}::text[])`
      }
      for (const { name, enabled, api_key = null } of keys) {
        if (api_key === null) {
          // The lock of the catalog keeps what was read as it is.
          if (current.some((row) => row.name === name && row.enabled === enabled)) continue
          yield* sql`UPDATE channel_keys SET enabled = ${enabled}
                      WHERE channel_id = ${id} AND version = ${version} AND name = ${name}`
          continue
        }
        const { keyId, bytes } = yield* vault.seal(api_key, id, origin)
        yield* sql`
          INSERT INTO channel_keys (channel_id, version, name, key_id, sealed_api_key, enabled)
          VALUES (${id}, ${version}, ${name}, ${keyId}, ${bytes}, ${enabled})
          ON CONFLICT (channel_id, version, name) DO UPDATE
             SET key_id = excluded.key_id, sealed_api_key = excluded.sealed_api_key,
                 enabled = excluded.enabled`
        // The vendor has not refused the new value yet, so cooldowns of the key end.
        yield* sql`DELETE FROM rests WHERE channel_id = ${id} AND key_name = ${name}`
      }
    })

    return ChannelCredentials.of({
      accounts: (channelId) =>
        Effect.flatMap(find(channelId), ({ accounts }) =>
          accounts === null ? Effect.fail(noCredentials()) : Effect.succeed(accounts)
        ),
      taskAccounts: (channelId, version) =>
        Effect.flatMap(find(channelId), ({ versions }) => {
          const accounts = accountsOfTask(versions, version)
          return Arr.isReadonlyArrayNonEmpty(accounts)
            ? Effect.succeed(accounts)
            : Effect.fail(noCredentials())
        }),
      store: Effect.fn("ChannelCredentials.store")(function* (channels) {
        const rows = yield* decodeRows(AccountRow)(accountRows(channels.map(({ id }) => id)))
        const byChannel = Map.groupBy(rows, ({ channelId }) => channelId)
        for (const channel of channels)
          yield* storeChannel(channel, byChannel.get(channel.id) ?? [])
      }, Effect.orDie),
      // Superseded accounts are kept while any task of their channel is being submitted, since such
      // a task does not name its account yet. One subquery reads the tasks of both states: a cluster
      // runs each subquery on its own, and a task may be accepted between two of them.
      forgetSuperseded: Effect.fn("ChannelCredentials.forgetSuperseded")((seconds) =>
        Effect.andThen(
          // A cluster deletes a row that others refer to only if it has not read other tables in
          // parallel in the same transaction. One PostgreSQL ignores the setting.
          sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
          sql`
            WITH forgotten AS (
              DELETE FROM channel_accounts a
               WHERE a.superseded_at <= now() - make_interval(secs => ${seconds})
                 AND NOT EXISTS (
                   SELECT FROM (SELECT DISTINCT channel_id, account_version FROM tasks
                                 WHERE state IN ('submitting', 'processing')) t
                    WHERE t.channel_id = a.channel_id
                      AND (t.account_version IS NULL OR t.account_version = a.version))
              RETURNING a.channel_id, a.version
            )
            DELETE FROM rests r USING forgotten f
             WHERE r.channel_id = f.channel_id
               AND r.key_name LIKE '%@' || f.version`
        ).pipe(sql.withTransaction, runOnce, Effect.asVoid)
      ),
      storedKeys
    })
  })
)
