/**
 * Units that were charged (tokens, seconds, images), grouped by everything that their price depends
 * on.
 */
import { Context, type Effect } from "effect"
import type { UnitGroup } from "./replay.ts"

export class ChargedUnits extends Context.Service<
  ChargedUnits,
  {
    /**
     * Reads the sums over the charged orders of all organisations in a month such as `2026-10`. The
     * groups have no defined order.
     */
    readMonth(month: string): Effect.Effect<ReadonlyArray<UnitGroup>>
    /** Reads the sums over the charged orders of one organisation in a month. */
    readMonthOf(organizationId: string, month: string): Effect.Effect<ReadonlyArray<UnitGroup>>
  }
>()("gateway/features/catalog/ChargedUnits") {}
