/** A line of a spend series: sums of the orders of a slot of time and of a group. */

export type SpendGroup =
  | "model"
  | "modality"
  | "member"
  | "key"
  | "organization"
  | "channel"
  | "tag"

export interface SpendLine extends Partial<Record<SpendGroup, string>> {
  readonly start: string
  readonly count: number
  readonly failed: number
  readonly charge: string
  readonly returned: string
  readonly units: number | null
  readonly unit: string | null
  readonly currency: string
  /** The vendor's cost, which only operators get. */
  readonly cost?: string
  /** Null where the cost of a charge is unknown. */
  readonly margin?: string | null
}
