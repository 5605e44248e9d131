/** Movements of several organisations that share a call. */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  type Movement,
  type MovementOutcome,
  moveTogether
} from "../../src/postgres/ledger/ledgerBatch.ts"
import { type HoldRequest, Ledger } from "../../src/services/Ledger.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import type { TaskOutcome } from "../../src/services/TaskRepo.ts"
import { layerStoresOnServer, organization, usageOf } from "../support/ledger.ts"
import { endpointOf } from "./Webhooks.suite.ts"

const everywhere = { concurrency: "unbounded" } as const

const holding = (request: HoldRequest): Movement => ({ _tag: "Hold", request, keySeconds: 600 })

const told = (moved: MovementOutcome) =>
  moved._tag === "Hold"
    ? [
        moved.outcome,
        moved.available,
        moved.budget?.amountNano ?? null,
        moved.budget?.usedNano ?? null
      ]
    : [moved.outcome, moved.state, moved.captured, moved.overage]

layer(layerStoresOnServer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "a ledger with several organisations in a call",
  (it) => {
    it.effect("answers each by its own money, members, holds and keys", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const ledger = yield* Ledger
        const move = (...movements: ReadonlyArray<Movement>) =>
          Effect.map(moveTogether(sql, "UTC", movements), (moved) => moved.map(told))
        const [rich, poor, capped, stopped] = [
          yield* organization(1000n),
          yield* organization(15n),
          yield* organization(1000n),
          yield* organization(1000n)
        ]
        const accounts = yield* Accounts
        yield* accounts.changeMember(capped.memberIds[0] ?? "", { monthlyCapNano: 25n })
        yield* ledger.stopSpending(new Map([[stopped.organizationId, "for the test"]]))
        const same = { id: "im_same", key: { key: "k", fingerprint: "f" } }

        assert.deepStrictEqual(
          yield* move(
            holding(capped.hold(20n, same)),
            holding(rich.hold(10n, same)),
            holding(stopped.hold(1n)),
            holding(poor.hold(10n, same)),
            holding(poor.hold(6n)),
            holding(capped.hold(6n)),
            holding(rich.hold(40n, { memberId: poor.memberIds[0] ?? "" })),
            holding(poor.hold(1n, { key: same.key })),
            holding(rich.hold(30n)),
            holding(rich.hold(10n, same))
          ),
          [
            ["held", 1000n, null, null],
            ["held", 1000n, null, null],
            ["stopped", 1000n, null, null],
            ["held", 15n, null, null],
            ["insufficient_balance", 5n, null, null],
            ["budget_exceeded", 980n, 25n, 20n],
            ["unknown_member", 990n, null, null],
            ["key_used", 5n, null, null],
            ["held", 990n, null, null],
            ["held", 1000n, null, null]
          ]
        )

        // What is told is what each decision was made by.
        assert.deepStrictEqual(yield* move(holding(capped.hold(6n)), holding(poor.hold(6n))), [
          ["budget_exceeded", 980n, 25n, 20n],
          ["insufficient_balance", 5n, null, null]
        ])

        const captured = { chargeNano: 12n, usage: usageOf(12n) }
        const released = { orphan: null, forgetKey: true }
        assert.deepStrictEqual(
          yield* move(
            { _tag: "Capture", request: { ...rich.close("im_same"), ...captured } },
            { _tag: "Release", request: { ...poor.close("im_same"), ...released } },
            holding(poor.hold(15n, { key: same.key })),
            { _tag: "Release", request: { ...stopped.close("im_same"), ...released } },
            { _tag: "Release", request: { ...rich.close("im_same"), ...released } },
            { _tag: "Capture", request: { ...capped.close("im_same"), ...captured } }
          ),
          [
            ["won", "captured", 12n, 2n],
            ["won", "released", 0n, 0n],
            ["held", 15n, null, null],
            ["unknown", null, 0n, 0n],
            ["closed", "captured", 12n, 2n],
            ["won", "captured", 12n, 0n]
          ]
        )
        const balances = yield* Effect.forEach([rich, poor, capped, stopped], (one) =>
          ledger.balance(one.organizationId)
        )
        assert.deepStrictEqual(balances, [
          { balanceNano: 988n, heldNano: 30n },
          { balanceNano: 15n, heldNano: 15n },
          { balanceNano: 988n, heldNano: 0n },
          { balanceNano: 1000n, heldNano: 0n }
        ])
        yield* ledger.stopSpending(new Map())
        // Others had holds of this name before.
        assert.deepStrictEqual(
          yield* move(holding(stopped.hold(1n, same)), holding(rich.hold(1n))),
          [
            ["held", 1000n, null, null],
            ["held", 958n, null, null]
          ]
        )
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("reports the first refusal of a budget with the use before the other holds", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const accounts = yield* Accounts
        const { organizationId, memberIds, hold } = yield* organization(1000n)
        const [memberId = ""] = memberIds
        yield* accounts.changeMember(memberId, { monthlyCapNano: 100n })
        yield* endpointOf(organizationId, ["cap.reached"])
        yield* moveTogether(sql, "UTC", [holding(hold(50n))])
        const moved = yield* moveTogether(sql, "UTC", [holding(hold(60n)), holding(hold(40n))])
        assert.deepStrictEqual(
          moved.map(({ outcome }) => outcome),
          ["budget_exceeded", "held"]
        )
        const messages = yield* sql`
          SELECT data ->> 'used' AS used FROM webhook_messages
           WHERE organization_id = ${organizationId}`
        assert.deepStrictEqual(messages, [{ used: "0.00000005" }])
      })
    )

    it.effect("answers each by what its own orders can come to", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const ledger = yield* Ledger
        const [exposed, other] = [yield* organization(100n), yield* organization(100n)]
        const film = { exposureNano: 90n, quote: { holdNano: "10", exposureNano: "90" } }
        const moved = yield* moveTogether(sql, "UTC", [
          holding(exposed.hold(10n, film)),
          holding(other.hold(60n)),
          holding(exposed.hold(11n)),
          holding(other.hold(10n, film)),
          holding(exposed.hold(10n)),
          holding(other.hold(1n))
        ])
        assert.deepStrictEqual(
          moved.map((one) => told(one).slice(0, 2)),
          [
            ["held", 100n],
            ["held", 100n],
            ["overexposed", 10n],
            ["held", 40n],
            ["held", 90n],
            ["overexposed", -50n]
          ]
        )
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("closes an order once, also where the first close of it does not apply", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const task = {
          listedProtocol: "vp_a",
          summary: {},
          submitSeconds: 60
        }
        const request = hold(10n, { task })
        yield* ledger.hold(request)
        const error = { errorCode: "x", errorMessage: "x" }
        const rejected = { from: "submitting", state: "rejected", ...error } as const
        const failed = { from: "processing", state: "failed", ...error } as const
        const release = (task: TaskOutcome): Movement => ({
          _tag: "Release",
          request: {
            ...close(request.id),
            task,
            orphan: null,
            forgetKey: false
          }
        })
        const moved = yield* moveTogether(sql, "UTC", [
          release(failed),
          release(rejected),
          release(rejected)
        ])
        assert.deepStrictEqual(moved.map(told), [
          ["closed", "released", 0n, 0n],
          ["won", "released", 0n, 0n],
          ["closed", "released", 0n, 0n]
        ])
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("lets none wait for the rows of another", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const ledger = yield* Ledger
        const stuck = yield* organization(100n)
        const others = yield* Effect.forEach(Array.from({ length: 40 }), () => organization(100n))
        const waiting = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT 1 FROM pools
                        WHERE organization_id = ${stuck.organizationId} FOR UPDATE`
            const held = yield* Effect.forkDetach(ledger.hold(stuck.hold(10n)).pipe(Effect.exit))
            // Several calls one after the other: an order that is stuck is in none of the later ones.
            for (let round = 0; round < 3; round++) {
              yield* Effect.forEach(others, (one) => ledger.hold(one.hold(10n)), everywhere)
            }
            assert.isUndefined(held.pollUnsafe())
            return held
          })
        )
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "Success")
        const balances = yield* Effect.forEach([stuck, ...others], (one) =>
          ledger.balance(one.organizationId)
        )
        assert.deepStrictEqual(
          balances.map(({ heldNano }) => heldNano),
          [10n, ...others.map(() => 30n)]
        )
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("fails a poisoned movement alone, whosever it is", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const all = yield* Effect.forEach(Array.from({ length: 30 }), () => organization(100n))
        const exits = yield* Effect.forEach(
          all.flatMap(({ hold }, index) => [
            hold(1n),
            hold(2n, index === 20 ? { quote: { text: "\u0000" } } : {})
          ]),
          (request) => Effect.exit(ledger.hold(request)),
          everywhere
        )
        assert.deepStrictEqual(
          exits.flatMap(({ _tag }, index) => (_tag === "Failure" ? [index] : [])),
          [41]
        )
        assert.deepEqual(yield* ledger.verify, [])
      })
    )
  }
)
