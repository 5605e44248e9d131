/**
 * Seals the months that are over. Every gateway seals months: two gateways compute the same seal,
 * and the seal that is stored first stays. A month whose entries do not add up to its closing
 * balance is not sealed, and an error is logged.
 */
import { createHash } from "node:crypto"
import { Effect, Layer, Stream } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type Statement, Statements } from "./Statements.ts"
import { statementFile } from "./statementFile.ts"

/** The number of months that one query reads. */
const MONTHS_PER_READ = 100

/** Computes the digest of the month's file, and counts and adds up its entries. */
const computeSeal = Effect.fnUntraced(function* (statement: Statement) {
  const statements = yield* Statements
  const { organizationId, month, openingNano } = statement
  const sha256 = createHash("sha256")
  let entries = 0n
  let closingNano = openingNano
  const countedEntries = statements.entries(organizationId, month).pipe(
    Stream.tap(({ amountNano }) =>
      Effect.sync(() => {
        entries += 1n
        closingNano += amountNano
      })
    )
  )
  yield* Stream.runForEach(statementFile(statement, countedEntries), (text) =>
    Effect.sync(() => sha256.update(text))
  )
  return { entries, openingNano, closingNano, sha256: sha256.digest("hex") }
})

/**
 * Seals a month. Returns false where the entries do not add up to the closing balance of the
 * statement.
 */
const sealMonth = Effect.fnUntraced(function* (organizationId: string, month: string) {
  const statements = yield* Statements
  const statement = yield* statements.read(organizationId, month)
  const seal = yield* computeSeal(statement)
  if (seal.closingNano === statement.closingNano) {
    yield* statements.seal(organizationId, month, seal)
    return true
  }
  yield* Effect.logError("statement: month not sealed, its entries do not add up").pipe(
    Effect.annotateLogs({
      organization_id: organizationId,
      month,
      balance: formatNano(statement.closingNano),
      entries: formatNano(seal.closingNano)
    })
  )
  return false
})

/**
 * Seals due months until no due month can be sealed: none is left, or only months whose entries do
 * not add up. Returns the number of sealed months.
 */
export const sealDueMonths = Effect.gen(function* () {
  const statements = yield* Statements
  let total = 0
  while (true) {
    const months = yield* statements.sealableMonths(MONTHS_PER_READ)
    const seals = yield* Effect.forEach(months, ({ organizationId, month }) =>
      // `read` cannot fail: a sealable month exists, and so does its organisation.
      Effect.orDie(sealMonth(organizationId, month))
    )
    const sealedCount = seals.filter((isSealed) => isSealed).length
    total += sealedCount
    if (sealedCount === 0) return total
  }
})

export const layerStatementSealer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { sealSeconds } = yield* Settings
    yield* startJob({
      name: "statement sealing",
      interval: `${sealSeconds} seconds`,
      run: sealDueMonths,
      onFailure: (cause) => Effect.logError("statement: sealing months failed", cause)
    })
  })
)
