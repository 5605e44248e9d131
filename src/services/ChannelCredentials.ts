/** The accounts behind channels: address, key and application id, the key sealed at rest. */
import { Context, type Effect } from "effect"
import type { ChannelWrite } from "../domain/catalog/CatalogDocument.ts"
import type { ChannelUnavailable } from "../domain/Errors.ts"
import type { ChannelAccount } from "./ProtocolAdapter.ts"

export class ChannelCredentials extends Context.Service<
  ChannelCredentials,
  {
    /**
     * The account of a channel, also of one that has left the catalog while its tasks still run.
     * Fails when no usable key is stored.
     */
    account(channelId: string): Effect.Effect<ChannelAccount, ChannelUnavailable>
    /** Stores addresses and ids; a channel without `api_key` keeps the key it has. */
    store(channels: ReadonlyArray<ChannelWrite>): Effect.Effect<void>
    /** Channels that have a key stored. */
    readonly withKey: Effect.Effect<ReadonlySet<string>>
  }
>()("gateway/services/ChannelCredentials") {}
