/** Two ledgers of two gateways on one database, against one model of the ledger. */
import { Effect, Layer } from "effect"
import { readAudit } from "../chaos/books.ts"
import { open } from "../chaos/judges/verdict.ts"
import { compare, makeSides } from "../ledger/compare.ts"
import type { Database } from "./database.ts"
import { layerSimulatedStores } from "./gateways.ts"
import type { Generator } from "./generator.ts"
import { time } from "./realm.ts"
import { Actor } from "./world.ts"

const BUNDLES = 60
/** So that movements gather behind others. */
const LATENESS = 0.5
/** After it an open order is one of those that linger. */
const LINGER_MILLIS = 300_000
const SWEEP_SECONDS = 5
/** Longer than all commands take. */
const MOST_MILLIS = 2 * LINGER_MILLIS

const monthOf = (millis: number): number => new Date(millis).getUTCMonth()

/** The model knows one month, so a world at the end of one waits for the next. */
const skipMonthEnd = () => {
  const end = time.nowMillis + MOST_MILLIS
  if (monthOf(time.nowMillis) !== monthOf(end)) time.jump(MOST_MILLIS)
}

const makeStores = (database: Database, name: string) =>
  Layer.build(layerSimulatedStores(database, new Actor(name)))

export const judgeLedgerModel = Effect.fnUntraced(function* (database: Database, dice: Generator) {
  const docket = open("L1", "two ledgers on one database do together what the model does")
  const first = yield* makeStores(database, "ledger-1")
  const second = yield* makeStores(database, "ledger-2")
  const sides = yield* makeSides([first, second])
  skipMonthEnd()
  database.lateness = LATENESS
  const runCommands = Effect.map(
    compare(sides, dice, { bundles: BUNDLES, areHoldsInOrder: false }),
    ({ difference }) => docket.look(difference)
  )
  yield* runCommands
  time.jump(LINGER_MILLIS)
  yield* Effect.sleep(`${SWEEP_SECONDS} seconds`)
  yield* runCommands
  for (const line of yield* readAudit) docket.look(line)
  return docket.verdict
}, Effect.orDie)
