/**
 * The vendor accounts of channels: base address, application id and API keys. The keys are
 * encrypted at rest.
 */
import { Array as Arr, Context, type Effect, Redacted } from "effect"
import type { ChannelWrite } from "../../domain/catalog/CatalogDocument.ts"
import type { StoredKeys } from "../../domain/catalog/channelKeys.ts"
import { ChannelUnavailable } from "../../domain/Errors.ts"
import type { ChannelAccount } from "../ProtocolAdapter.ts"

/** A version of a channel's account with one of its keys. */
export interface KeyedAccount extends ChannelAccount {
  readonly keyName: string
  /** The origin of the base address. The key was sealed for this origin and opens for no other. */
  readonly origin: string
  /**
   * The version number of the channel's account, incremented with each change. A task stores the
   * version that created it.
   */
  readonly version: number
  /**
   * True for an old version. New orders do not use it; tasks that it created are polled with it
   * until they have ended.
   */
  readonly isSuperseded: boolean
}

/** The account of a channel, with one entry per key; the entries are sorted by the key's name. */
export interface ChannelAccounts {
  /** The entries with enabled keys, for new orders. */
  readonly forOrders: ReadonlyArray<KeyedAccount>
  /** All entries, including disabled keys: a task is polled with the key that created it. */
  readonly all: Arr.NonEmptyReadonlyArray<KeyedAccount>
}

export const noCredentials = () =>
  new ChannelUnavailable({
    message: "The channel of this model has no usable credentials at the moment",
    param: "model"
  })

/** A stored version of a channel's account, current or superseded. */
export interface AccountVersion {
  readonly version: number
  readonly origin: string | null
  readonly accounts: ReadonlyArray<KeyedAccount>
}

const nameOf = ({ apiKey, appId, baseUrl }: KeyedAccount): string =>
  JSON.stringify([Redacted.value(apiKey), appId, baseUrl])

/**
 * The accounts for polling a task, from all versions of its channel's account, the newest first.
 * The account that created the task comes first. The channel's other keys of the same origin
 * follow, and are used where the vendor refuses the first account. Accounts of other origins are
 * left out, because the vendor there does not know the task.
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
     * The accounts of a channel. A channel that was removed from the catalog still has its
     * accounts. Fails when no usable key is stored.
     */
    accounts(channelId: string): Effect.Effect<ChannelAccounts, ChannelUnavailable>
    /**
     * The accounts for polling a task that was created with this version of the channel's account.
     * Fails where no usable key for the origin of that version is stored.
     */
    taskAccounts(
      channelId: string,
      version: number
    ): Effect.Effect<Arr.NonEmptyReadonlyArray<KeyedAccount>, ChannelUnavailable>
    /**
     * Stores addresses, application ids and keys. A key without a value keeps its stored value,
     * unless the address changes to another origin. Stored keys that are missing from the list are
     * deleted. Where the address, the application id or the value of a key changes, the previous
     * version of the account is kept as long as tasks that it created are running.
     */
    store(channels: ReadonlyArray<ChannelWrite>): Effect.Effect<void>
    /** Deletes versions that were superseded at least `seconds` ago and have no running tasks. */
    forgetSuperseded(seconds: number): Effect.Effect<void>
    readonly storedKeys: Effect.Effect<StoredKeys>
  }
>()("gateway/services/ChannelCredentials") {}

/**
 * Minimum time for which a superseded version is kept. An order may have read this version before
 * the change without having written its hold yet, so that no task refers to the version.
 */
export const SUPERSEDED_SECONDS = 3600
