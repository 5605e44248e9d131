/**
 * The makers of encrypted reasoning. Clients keep reasoning with a name of its maker, so that it goes
 * back to this channel at this origin alone. The name is a MAC, which shows nothing of the channel.
 */
import { createHmac } from "node:crypto"
import { Context, Layer, type Redacted } from "effect"
import { originOf } from "../../domain/catalog/origin.ts"
import type { ReasoningMaker } from "../../domain/responses/ownResponses.ts"
import { deriveKey } from "../derivedKeys.ts"
import type { ChannelAccount } from "../ProtocolAdapter.ts"

export class ReasoningMakers extends Context.Service<
  ReasoningMakers,
  {
    /** The account as the maker of reasoning for an organisation. */
    of(
      organizationId: string,
      account: Pick<ChannelAccount, "channelId" | "baseUrl">
    ): ReasoningMaker
  }
>()("gateway/services/ReasoningMakers") {}

const NAME_BYTES = 16
/** The delimiter of name and reasoning; no name contains it. */
const SEPARATOR = "."

/** Reasoning that was named under the previous master key still goes back to its maker. */
export const layerReasoningMakers = (
  masterKey: Redacted.Redacted<Uint8Array>,
  previous: Redacted.Redacted<Uint8Array> | null = null
) =>
  Layer.sync(ReasoningMakers, () => {
    const current = deriveKey(masterKey, "reasoning makers")
    const previousKeys = previous === null ? [] : [deriveKey(previous, "reasoning makers")]
    return ReasoningMakers.of({
      of: (organizationId, { channelId, baseUrl }) => {
        const maker = JSON.stringify([organizationId, channelId, originOf(baseUrl)])
        const nameBy = (key: Uint8Array): string =>
          createHmac("sha256", key)
            .update(maker)
            .digest()
            .subarray(0, NAME_BYTES)
            .toString("base64url") + SEPARATOR
        const name = nameBy(current)
        return {
          wrap: (reasoning) => `${name}${reasoning}`,
          unwrap: (text) => {
            const prefix = [name, ...previousKeys.map(nameBy)].find((one) => text.startsWith(one))
            return prefix === undefined ? null : text.slice(prefix.length)
          }
        }
      }
    })
  })
