/** The accounts behind channels: address, keys and application id, the keys sealed at rest. */
import { Array as Arr, Context, type Effect, Redacted } from "effect"
import type { ChannelWrite } from "../../domain/catalog/CatalogDocument.ts"
import type { StoredKeys } from "../../domain/catalog/channelKeys.ts"
import { ChannelUnavailable } from "../../domain/Errors.ts"
import type { ChannelAccount } from "../ProtocolAdapter.ts"

/** An account as it is called with one of its keys. */
export interface KeyedAccount extends ChannelAccount {
  readonly keyName: string
  /** Of the base address. The key was stored for it, and opens for no other. */
  readonly origin: string
  /** Counts the accounts that a channel has had: a task names the one that made it. */
  readonly version: number
  /** No orders are made with it any more; its tasks are asked for with it until they end. */
  readonly isSuperseded: boolean
}

/** The account of a channel, once for each of its keys, by name. */
export interface ChannelAccounts {
  /** With the keys that are enabled. */
  readonly forOrders: ReadonlyArray<KeyedAccount>
  /** Also with the others: a task that was made with a key is asked for with it. */
  readonly all: Arr.NonEmptyReadonlyArray<KeyedAccount>
}

export const noCredentials = () =>
  new ChannelUnavailable({
    message: "The channel of this model has no usable credentials at the moment",
    param: "model"
  })

/** An account that a channel has or had, as it is stored. */
export interface AccountVersion {
  readonly version: number
  readonly origin: string | null
  readonly accounts: ReadonlyArray<KeyedAccount>
}

const nameOf = ({ apiKey, appId, baseUrl }: KeyedAccount): string =>
  JSON.stringify([Redacted.value(apiKey), appId, baseUrl])

/**
 * The accounts for polling a task, from all versions of its channel's account, the newest first. The
 * account that created the task comes before the channel's other keys of the same origin, which are used
 * where the vendor refuses it. The vendor at another origin does not know the task.
 */
export const accountsOfTask = (
  versions: ReadonlyArray<AccountVersion>,
  version: number
): ReadonlyArray<KeyedAccount> => {
  const accountOfTask = versions.find((one) => one.version === version)
  if (accountOfTask === undefined || accountOfTask.origin === null) return []
  const others = versions.filter(
    (one) => one !== accountOfTask && one.origin === accountOfTask.origin
  )
  return Arr.dedupeWith(
    [accountOfTask, ...others].flatMap(({ accounts }) => accounts),
    (one, other) => nameOf(one) === nameOf(other)
  )
}

export class ChannelCredentials extends Context.Service<
  ChannelCredentials,
  {
    /**
     * The accounts of a channel, also of one that has left the catalog. Fails when no usable key is
     * stored.
     */
    accounts(channelId: string): Effect.Effect<ChannelAccounts, ChannelUnavailable>
    /**
     * With what a task is asked for that the channel's account of this version has made. Fails where
     * no usable key of its origin is stored.
     */
    taskAccounts(
      channelId: string,
      version: number
    ): Effect.Effect<Arr.NonEmptyReadonlyArray<KeyedAccount>, ChannelUnavailable>
    /**
     * Stores addresses, ids and keys. A key without a value keeps the one it has, unless the address
     * has another origin, and those that are not written any more are forgotten. Where the address, the
     * id or the value of a key changes, the account before stays as long as tasks of it run.
     */
    store(channels: ReadonlyArray<ChannelWrite>): Effect.Effect<void>
    /** Forgets accounts that made way so long ago and that no running task was made with. */
    forgetSuperseded(seconds: number): Effect.Effect<void>
    readonly storedKeys: Effect.Effect<StoredKeys>
  }
>()("gateway/services/ChannelCredentials") {}

/**
 * How long an account that made way is kept in any case: an order may have read it that has not written
 * its hold yet.
 */
export const SUPERSEDED_SECONDS = 3600
