/** What was charged for: tokens, seconds and images, apart by all that their price depends on. */
import { Context, type Effect } from "effect"
import type { UnitGroup } from "./replay.ts"

export class ChargedUnits extends Context.Service<
  ChargedUnits,
  {
    /** Of all organisations' charged orders that count in the month, such as `2026-10`; in any order. */
    ofMonth(month: string): Effect.Effect<ReadonlyArray<UnitGroup>>
  }
>()("gateway/features/catalog/ChargedUnits") {}
