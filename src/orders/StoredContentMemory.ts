/**
 * The memory of content that the gateway itself stores and orders repeat: files as data URLs, and
 * stored responses. Both share a part of the memory budget for bodies, in bytes.
 */
import { Context, Effect, Layer } from "effect"
import { Settings } from "../runtime/Settings.ts"
import { makeShares } from "../runtime/Shares.ts"

/** The maximum shares of the budget for bodies: of all organisations together, and of one. */
const TOTAL_SHARE = 0.5
const ORGANIZATION_SHARE = 0.25

export class StoredContentMemory extends Context.Service<StoredContentMemory>()(
  "gateway/orders/StoredContentMemory",
  {
    make: Effect.map(Settings, ({ bodyBudgetBytes }) =>
      makeShares({
        perOwner: Math.floor(bodyBudgetBytes * ORGANIZATION_SHARE),
        total: Math.floor(bodyBudgetBytes * TOTAL_SHARE)
      })
    )
  }
) {}

export const layerStoredContentMemory = Layer.effect(StoredContentMemory, StoredContentMemory.make)
