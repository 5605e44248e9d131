/** The lines of a charge: the input, the output, and the parts that have a price of their own. */
import { Result } from "effect"
import { baseUnits, bySide, type PartKind } from "../../../domain/money/chargeParts.ts"
import { formatNano, parseNano } from "../../../domain/money/Money.ts"
import type { ReceiptView } from "../../../http/api/receipts.ts"

export interface ChargeLine {
  readonly kind: "input" | "output" | PartKind
  readonly units: bigint
  readonly unitPrice: string
  /** Null if the unit price is no decimal that can be multiplied exactly. */
  readonly amount: string | null
}

const lineOf = (kind: ChargeLine["kind"], units: bigint, unitPrice: string): ChargeLine => ({
  kind,
  units,
  unitPrice,
  amount: Result.getOrNull(Result.map(parseNano(unitPrice), (nano) => formatNano(units * nano)))
})

/** The lines, whose amounts sum up to the charge. The lines of input and output are without parts. */
export const chargeLinesOf = (receipt: ReceiptView): ReadonlyArray<ChargeLine> => {
  const { units, unit_price, input_units, input_unit_price } = receipt
  const { inputParts, outputParts, besideParts } = bySide(
    (receipt.parts ?? []).map((part) => ({ ...part, units: BigInt(part.units) }))
  )
  const linesOfParts = (parts: typeof inputParts) =>
    parts.map((part) => lineOf(part.kind, part.units, part.unit_price))
  return [
    ...(input_unit_price === null
      ? []
      : [lineOf("input", baseUnits(BigInt(input_units), inputParts), input_unit_price)]),
    ...linesOfParts(inputParts),
    lineOf("output", baseUnits(BigInt(units), outputParts), unit_price),
    ...linesOfParts(outputParts),
    ...linesOfParts(besideParts)
  ]
}
