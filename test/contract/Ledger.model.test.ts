import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { compare, makeSides } from "../../scripts/ledger/compare.ts"
import { Generator } from "../../scripts/simulation/generator.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { seedOfDay } from "../support/day.ts"
import { layerStoresOf, type Stores, storeKinds } from "../support/ledger.ts"

/** `LEDGER_RUNS=1000` is the long form; the seed repeats a run that failed. */
const RUNS = Number(process.env.LEDGER_RUNS ?? 16)
const SEED = Number(process.env.LEDGER_SEED ?? seedOfDay)
const BUNDLES = 40
const PATIENCE_MILLIS = 60_000 + RUNS * 1000
/** By how long a run takes. */
const runsOn = { memory: RUNS * 4, citus: 4, embedded: Math.ceil(RUNS / 4), postgres: RUNS }

/** What every command can be answered, without its amounts. */
const verdictKinds = [
  "Deposit applied",
  "Deposit repeated",
  "Deposit idempotency_mismatch",
  "Deposit invalid_request",
  "Adjust applied",
  "Adjust repeated",
  "Adjust idempotency_mismatch",
  "Adjust invalid_request",
  "Adjust insufficient_balance",
  "Adjust not_found",
  "Hold held",
  "Hold KeyAlreadyUsed",
  "Hold died",
  "Hold member_cap_exceeded",
  "Hold budget_exceeded",
  "Budget uses",
  "Budget there",
  "ChangeBudget uses",
  "ChangeBudget removed",
  "ChangeBudget not_found",
  "Hold insufficient_balance",
  "Hold insufficient_balance by exposure",
  "Credit set",
  "Capture captured won",
  "Capture captured before",
  "Capture released before",
  "Capture died",
  "Release released won",
  "Release released before",
  "Release captured before",
  "Capture open before",
  "Release open before",
  "Recall unused",
  "Recall idempotency_mismatch",
  "Recall idempotency_conflict",
  "Recall Images",
  "Recall Refused",
  "Recall Task",
  "Release died"
]

for (const kind of storeKinds) {
  layer(layerStoresOf(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `the ledger against its model (${kind})`,
    (it) => {
      it.effect(
        `agrees on ${BUNDLES} random commands, whichever and however often`,
        () =>
          Effect.gen(function* () {
            const ledger = yield* Ledger
            const stores = yield* Effect.context<Stores>()
            const met = new Set<string>()
            for (let run = 0; run < runsOn[kind]; run++) {
              const sides = yield* makeSides([stores])
              const { kinds, difference } = yield* compare(sides, new Generator(SEED + run), {
                bundles: BUNDLES,
                areHoldsInOrder: true
              })
              if (difference !== null)
                throw new Error(`LEDGER_SEED=${SEED}, run ${run}: ${difference}`)
              for (const kind of kinds) met.add(kind)
            }
            assert.deepEqual(yield* ledger.verify, [])
            if (kind !== "memory") return
            // What the dice never throw is not tested, however often they are thrown.
            assert.deepEqual(
              verdictKinds.filter((kind) => !met.has(kind)),
              [],
              `LEDGER_SEED=${SEED}`
            )
          }),
        PATIENCE_MILLIS
      )
    }
  )
}
