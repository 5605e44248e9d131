/**
 * Seals the months that are over. Any gateway may: what two come to is the same, and the first seal
 * stays. A month whose entries do not come to its closing balance is not sealed, and is told of.
 */
import { createHash } from "node:crypto"
import { Effect, Layer, Stream } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type Statement, Statements } from "./Statements.ts"
import { statementFile } from "./statementFile.ts"

/** Months that are looked for at a time. */
const AT_ONCE = 100

/** The digest of the month's file, how many entries it has, and what they come to. */
const digestOf = Effect.fnUntraced(function* (statement: Statement) {
  const statements = yield* Statements
  const { organizationId, month, openingNano } = statement
  const sha256 = createHash("sha256")
  let [entries, closingNano] = [0n, openingNano]
  const counted = statements.entries(organizationId, month).pipe(
    Stream.tap(({ amountNano }) =>
      Effect.sync(() => {
        entries += 1n
        closingNano += amountNano
      })
    )
  )
  yield* Stream.runForEach(statementFile(statement, counted), (text) =>
    Effect.sync(() => sha256.update(text))
  )
  return { entries, openingNano, closingNano, sha256: sha256.digest("hex") }
})

/** False where the entries do not come to what the statement says. */
const sealMonth = Effect.fnUntraced(function* (organizationId: string, month: string) {
  const statements = yield* Statements
  const statement = yield* statements.read(organizationId, month)
  const seal = yield* digestOf(statement)
  if (seal.closingNano === statement.closingNano) {
    yield* statements.seal(organizationId, month, seal)
    return true
  }
  yield* Effect.logError("statement: month not sealed, its entries do not add up").pipe(
    Effect.annotateLogs({
      organization: organizationId,
      month,
      balance: formatNano(statement.closingNano),
      entries: formatNano(seal.closingNano)
    })
  )
  return false
})

/** Seals month after month until none is due, or those that are do not add up; answers how many. */
export const sealDueMonths = Effect.gen(function* () {
  const statements = yield* Statements
  let total = 0
  while (true) {
    const done = yield* Effect.forEach(
      yield* statements.sealableMonths(AT_ONCE),
      ({ organizationId, month }) =>
        // The organisation and its month are there.
        Effect.orDie(sealMonth(organizationId, month))
    )
    const sealed = done.filter((isSealed) => isSealed).length
    total += sealed
    if (sealed === 0) return total
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
