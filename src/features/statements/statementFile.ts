/**
 * The entries of a month as one CSV file. The file of a sealed month always has the same bytes,
 * since its SHA-256 is the seal. The first line has the opening balance and the seal of the month
 * before; the last line has the closing balance.
 */
import { Stream } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { csvText, type Row } from "../../runtime/texts/csvText.ts"
import type { Statement, StatementEntry } from "./Statements.ts"

const statementColumns = [
  "kind",
  "id",
  "at",
  "amount",
  "balance",
  "member_id",
  "key_id",
  "model",
  "modality",
  "input",
  "output",
  "unit",
  "unit_price",
  "input_unit_price",
  "usage_id",
  "reference",
  "reason",
  "author",
  "metadata",
  "parts"
] as const

const decimalOrNull = (nano: bigint | null) => (nano === null ? null : formatNano(nano))

/**
 * The parts of a charge by kind, such as `{"cached_input":"1024 x 0.0000005"}`. They are included
 * in `input` and `output`, except for references.
 */
const partsCell = (parts: StatementEntry["parts"]) =>
  parts === null
    ? null
    : Object.fromEntries(
        parts.map(({ kind, units, unitPriceNano }) => [
          kind,
          `${units} x ${formatNano(unitPriceNano)}`
        ])
      )

/**
 * Sorts by name, since PostgreSQL and the store in memory return the metadata in different orders.
 */
const sortMetadata = (metadata: StatementEntry["metadata"]) =>
  metadata === null
    ? null
    : Object.fromEntries(
        Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1))
      )

const rowOf = (entry: StatementEntry, balanceNano: bigint): Row => ({
  kind: entry.kind,
  id: entry.id,
  at: entry.at.toISOString(),
  amount: formatNano(entry.amountNano),
  balance: formatNano(balanceNano),
  member_id: entry.memberId,
  key_id: entry.keyId,
  model: entry.model,
  modality: entry.modality,
  input: entry.input?.toString(),
  output: entry.output?.toString(),
  unit: entry.unit,
  unit_price: decimalOrNull(entry.unitPriceNano),
  input_unit_price: decimalOrNull(entry.inputUnitPriceNano),
  usage_id: entry.correctedId,
  reference: entry.reference,
  reason: entry.reason,
  author: entry.author,
  metadata: sortMetadata(entry.metadata),
  parts: partsCell(entry.parts)
})

export const statementFile = <E, R>(
  { organizationId, month, from, to, openingNano, sealBefore }: Statement,
  entries: Stream.Stream<StatementEntry, E, R>
): Stream.Stream<string, E, R> => {
  const balanceRow = (kind: "opening" | "closing", at: Date, balanceNano: bigint): Row => ({
    kind,
    id: `${organizationId}/${month}`,
    at: at.toISOString(),
    amount: "0",
    balance: formatNano(balanceNano),
    ...(kind === "opening" ? { reference: sealBefore } : {})
  })
  return Stream.make(balanceRow("opening", from, openingNano)).pipe(
    Stream.concat(
      Stream.mapAccum(
        entries,
        () => openingNano,
        (previousNano, entry) => {
          const balanceNano = previousNano + entry.amountNano
          return [balanceNano, [rowOf(entry, balanceNano)]] as const
        },
        { onHalt: (balanceNano) => [balanceRow("closing", to, balanceNano)] }
      )
    ),
    csvText(statementColumns)
  )
}
