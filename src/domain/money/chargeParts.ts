/**
 * Parts of a charge: units that have a price of their own, such as cached input tokens. Most parts
 * are included in the order's input or output, and their units are charged at the price of the part
 * instead of the base price. References stand beside both: their price is added to the charge.
 */
import { Schema, Struct } from "effect"

/** Where the units of a part are counted: in the input, in the output, or beside both. */
const sides = {
  cached_input: "input",
  audio_input: "input",
  image_input: "input",
  audio_output: "output",
  reference: "beside"
} as const

export const partKinds = Struct.keys(sides)
export type PartKind = keyof typeof sides

/** A part of a charge, in the form in which it is stored. */
export const ChargePart = Schema.Struct({
  kind: Schema.Literals(partKinds),
  units: Schema.BigIntFromString,
  unitPriceNano: Schema.BigIntFromString
})
export type ChargePart = typeof ChargePart.Type

/** The parts of the input, those of the output, and those beside both. */
export const bySide = <Part extends Pick<ChargePart, "kind">>(parts: ReadonlyArray<Part>) => {
  const partsOn = (side: (typeof sides)[PartKind]) =>
    parts.filter(({ kind }) => sides[kind] === side)
  return {
    inputParts: partsOn("input"),
    outputParts: partsOn("output"),
    besideParts: partsOn("beside")
  }
}

/** The words for one unit of a part, such as `cached input token`. */
export const partInWords = (kind: PartKind): string =>
  kind === "reference" ? "reference image" : `${kind.replace("_", " ")} token`

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

/** The price of parts that stand beside the input and the output. */
export const amountBeside = (besideParts: ReadonlyArray<ChargePart>): bigint =>
  besideParts.reduce((sum, { units, unitPriceNano }) => sum + units * unitPriceNano, 0n)

/** The parts that have units, with their prices; a part without a price has none of its own. */
export const partsOf = (
  parts: ReadonlyArray<readonly [kind: PartKind, units: bigint, unitPriceNano: bigint | undefined]>
): ReadonlyArray<ChargePart> =>
  parts.flatMap(([kind, units, unitPriceNano]) =>
    units === 0n || unitPriceNano === undefined ? [] : [{ kind, units, unitPriceNano }]
  )
