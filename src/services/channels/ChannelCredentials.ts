/** The accounts behind channels: address, keys and application id, the keys sealed at rest. */
import { type Array as Arr, Context, type Effect } from "effect"
import type { ChannelWrite } from "../../domain/catalog/CatalogDocument.ts"
import type { StoredKeys } from "../../domain/catalog/channelKeys.ts"
import { ChannelUnavailable } from "../../domain/Errors.ts"
import type { ChannelAccount } from "../ProtocolAdapter.ts"

/** An account as it is called with one of its keys. */
export interface KeyedAccount extends ChannelAccount {
  readonly keyName: string
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

export class ChannelCredentials extends Context.Service<
  ChannelCredentials,
  {
    /**
     * The accounts of a channel, also of one that has left the catalog while its tasks still run.
     * Fails when no usable key is stored.
     */
    accounts(channelId: string): Effect.Effect<ChannelAccounts, ChannelUnavailable>
    /**
     * Stores addresses, ids and keys. A key without a value keeps the one it has, and those that are
     * not written any more are forgotten.
     */
    store(channels: ReadonlyArray<ChannelWrite>): Effect.Effect<void>
    readonly storedKeys: Effect.Effect<StoredKeys>
  }
>()("gateway/services/ChannelCredentials") {}
