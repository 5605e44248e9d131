/**
 * Parts of a charge: input or output units that have a price of their own, such as cached input
 * tokens. A part is included in the order's input or output, and its units are charged at the
 * price of the part instead of the base price.
 */
import { Schema } from "effect"

export const partKinds = ["cached_input", "audio_input", "image_input", "audio_output"] as const
export type PartKind = (typeof partKinds)[number]

/** A part of a charge, in the form in which it is stored. */
export const ChargePart = Schema.Struct({
  kind: Schema.Literals(partKinds),
  units: Schema.BigIntFromString,
  unitPriceNano: Schema.BigIntFromString
})
export type ChargePart = typeof ChargePart.Type

const isInputPart = ({ kind }: Pick<ChargePart, "kind">): boolean => kind !== "audio_output"

/** The parts of the input and those of the output. */
export const bySide = <Part extends Pick<ChargePart, "kind">>(parts: ReadonlyArray<Part>) => ({
  inputParts: parts.filter(isInputPart),
  outputParts: parts.filter((part) => !isInputPart(part))
})

/** The words for the units of a part, such as `cached input token`. */
export const partInWords = (kind: PartKind): string => `${kind.replace("_", " ")} token`

/** The charged units of one side, input or output, with the base price of that side. */
export interface PricedUnits {
  readonly units: bigint
  readonly unitPriceNano: bigint
}

/** The units at the base price: those that belong to no part. */
export const baseUnits = (units: bigint, parts: ReadonlyArray<Pick<ChargePart, "units">>): bigint =>
  parts.reduce((rest, part) => rest - part.units, units)

/** The price of units of which some belong to parts. */
export const amountWithParts = (
  { units, unitPriceNano }: PricedUnits,
  parts: ReadonlyArray<ChargePart>
): bigint =>
  parts.reduce(
    (sum, part) => sum + part.units * part.unitPriceNano,
    baseUnits(units, parts) * unitPriceNano
  )

/** The parts that have units, with their prices; a part without a price has none of its own. */
export const partsOf = (
  parts: ReadonlyArray<readonly [kind: PartKind, units: bigint, unitPriceNano: bigint | undefined]>
): ReadonlyArray<ChargePart> =>
  parts.flatMap(([kind, units, unitPriceNano]) =>
    units === 0n || unitPriceNano === undefined ? [] : [{ kind, units, unitPriceNano }]
  )
