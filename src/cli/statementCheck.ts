/**
 * Verifies a monthly statement by recomputing its values from the file of its entries. Anyone who
 * has the file can do this, without a gateway.
 */
import { createHash } from "node:crypto"
import { Effect, Result, Schema, Stream } from "effect"
import { Csv } from "effect/encoding"
import { formatNano, parseNano } from "../domain/money/Money.ts"
import type { StatementView } from "../features/statements/StatementsApi.ts"

const Entry = Schema.Struct({
  kind: Schema.String,
  id: Schema.String,
  amount: Schema.String,
  balance: Schema.String
})
const decodeEntry = Schema.decodeUnknownEffect(Entry)

class NoAmount extends Schema.TaggedError<NoAmount>()("NoAmount", { message: Schema.String }) {}

/** Converts a decimal amount, which may be negative, to nano-units. */
const nanoOf = (decimal: string) => {
  const [sign, digits] = decimal.startsWith("-") ? [-1n, decimal.slice(1)] : [1n, decimal]
  return Effect.fromResult(
    Result.mapBoth(parseNano(digits), {
      onSuccess: (nano) => sign * nano,
      onFailure: (expected) => new NoAmount({ message: `${decimal}: expected ${expected}` })
    })
  )
}

/** The totals of all entries, and the amounts by kind. */
interface Sums {
  readonly sha256: string
  readonly entries: number
  readonly opening: bigint
  readonly closing: bigint
  readonly byKind: ReadonlyMap<string, bigint>
  /** The first entry whose balance does not follow from the one before. */
  readonly firstWrongEntry: string | null
}

const sumEntries = Effect.fnUntraced(function* <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) {
  const sha256 = createHash("sha256")
  const byKind = new Map<string, bigint>()
  let [entries, opening, balance] = [0, 0n, 0n]
  let firstWrongEntry: string | null = null
  const rows = bytes.pipe(
    Stream.tap((chunk) => Effect.sync(() => sha256.update(chunk))),
    Stream.pipeThroughChannel(Csv.decode({ headers: true })),
    Stream.mapEffect((row) => decodeEntry(row))
  )
  yield* Stream.runForEach(rows, ({ kind, id, ...entry }) =>
    Effect.gen(function* () {
      const [amount, after] = [yield* nanoOf(entry.amount), yield* nanoOf(entry.balance)]
      if (kind === "opening") opening = balance = after
      if (kind !== "opening" && kind !== "closing") entries += 1
      balance += amount
      if (balance !== after) firstWrongEntry ??= id
      byKind.set(kind, (byKind.get(kind) ?? 0n) + amount)
    })
  )
  const sums: Sums = {
    entries,
    opening,
    byKind,
    firstWrongEntry,
    closing: balance,
    sha256: sha256.digest("hex")
  }
  return sums
})

/**
 * Returns a sentence for each value of the statement that differs from the value computed from the
 * entries. The list is empty where all values agree.
 */
export const statementFaults = Effect.fnUntraced(function* <E, R>(
  statement: StatementView,
  bytes: Stream.Stream<Uint8Array, E, R>
) {
  const sums = yield* sumEntries(bytes)
  const { sealed, charges, adjustments, deposits } = statement
  const faults: Array<string> = []
  const compare = (subject: string, entries: string | number, statedValue: string | number) => {
    if (entries !== statedValue)
      faults.push(`${subject}: the entries come to ${entries}, not ${statedValue}`)
  }
  const amountOf = (kind: string) => formatNano(sums.byKind.get(kind) ?? 0n)
  if (sums.firstWrongEntry !== null)
    faults.push(`the balance does not add up at ${sums.firstWrongEntry}`)
  compare("opening_balance", formatNano(sums.opening), statement.opening_balance)
  compare("closing_balance", formatNano(sums.closing), statement.closing_balance)
  compare("deposits", amountOf("deposit"), deposits.amount)
  compare("charges", formatNano(-(sums.byKind.get("charge") ?? 0n)), charges.gross)
  compare("credits", amountOf("credit"), adjustments.credits.amount)
  compare("corrections", amountOf("correction"), adjustments.corrections.amount)
  compare(
    "withdrawals",
    formatNano(-(sums.byKind.get("withdrawal") ?? 0n)),
    adjustments.withdrawals.amount
  )
  if (sealed !== null) {
    compare("entries", sums.entries, sealed.entries)
    if (sums.sha256 !== sealed.sha256) {
      faults.push(
        `the SHA-256 of the entries is ${sums.sha256}, and the seal's is ${sealed.sha256}`
      )
    }
  }
  return faults
})
