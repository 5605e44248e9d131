import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Access } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { seedOfDay } from "../support/day.ts"
import { layerStoresOn, ordered, usageOf } from "../support/ledger.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

/** `LEDGER_OPERATIONS=100000` is the long form. */
const OPERATIONS = Number(process.env.LEDGER_OPERATIONS ?? 4000)
const SEED = Number(process.env.LEDGER_SEED ?? seedOfDay)
/** Of races that a broken lock loses often, but not always. */
const ROUNDS = 8
const CLIENTS = 64

/** Two ledgers that share one database as two gateways do. */
class TwoLedgers extends Context.Service<
  TwoLedgers,
  readonly [Ledger["Service"], Ledger["Service"]]
>()("test/TwoLedgers") {}

const layerTwoLedgers = Layer.unwrap(
  Effect.map(temporaryServerDatabase, (url) => {
    const database = () => Layer.orDie(Layer.fresh(layerDatabaseAt(url)))
    const second = Layer.fresh(layerStoresOn(database()))
    return Layer.effect(
      TwoLedgers,
      Effect.gen(function* () {
        const first = yield* Ledger
        const other = yield* Effect.provide(Ledger, yield* Layer.build(second))
        return [first, other] as const
      })
    ).pipe(Layer.provideMerge(layerStoresOn(database())))
  })
)

const Count = Schema.Tuple([Schema.Struct({ n: Schema.BigInt })])

const request = (organizationId: string, memberId: string, id: string, amountNano: bigint) => ({
  organizationId,
  memberId,
  ...ordered,
  id,
  amountNano,
  ttlSeconds: 600,
  quote: {},
  job: { channelId: "ch", protocol: "ip_a", upstreamModel: "u" },
  task: null,
  key: null
})

interface OpenHold {
  readonly organization: string
  readonly id: string
}

/** Charges a hold or gives it back; one that is still listed as open is closed once more later. */
const closeHold = Effect.fnUntraced(function* (
  dice: Dice,
  ledger: Ledger["Service"],
  { organization, id }: OpenHold
) {
  const close = {
    organizationId: organization,
    holdId: id,
    by: "sweep" as const,
    task: null,
    answer: null
  }
  const charge = BigInt(1 + dice.roll(60))
  yield* dice.chance(50)
    ? ledger.capture({ ...close, chargeNano: charge, usage: usageOf(charge) })
    : ledger.release({ ...close, orphan: null, forgetKey: false })
})

/** One client's share of the operations, drawn by its own dice. */
const runClient = Effect.fnUntraced(function* (
  organizations: ReadonlyArray<{ readonly id: string; readonly members: ReadonlyArray<string> }>,
  index: number
) {
  const ledgers = yield* TwoLedgers
  const dice = diceOf(SEED + index)
  const open: Array<OpenHold> = []
  for (let step = 0; step < OPERATIONS / CLIENTS; step++) {
    const ledger = dice.pick(ledgers)
    const { id: organization, members } = organizations[dice.roll(organizations.length)] ?? {
      id: "",
      members: []
    }
    const oldest = open[0]
    if (dice.chance(10)) {
      yield* ledger.deposit(organization, 50n, `${index} ${step}`)
    } else if (oldest !== undefined && dice.chance(60)) {
      if (dice.chance(80)) open.shift()
      yield* closeHold(dice, ledger, oldest)
    } else {
      const id = `im_${index}_${step}`
      const member = members[dice.roll(members.length)] ?? ""
      const amount = BigInt(1 + dice.roll(50))
      const held = yield* Effect.result(ledger.hold(request(organization, member, id, amount)))
      if (Result.isSuccess(held)) open.push({ organization, id })
    }
  }
})

layer(layerTwoLedgers, { excludeTestServices: true, timeout: "60 seconds" })(
  "a ledger that two gateways share",
  (it) => {
    it.effect("never admits more than the pool has, whichever gateway is asked", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const ledgers = yield* TwoLedgers
        for (let round = 0; round < ROUNDS; round++) {
          const organizationId = yield* access.createOrganization("Test")
          yield* ledgers[0].deposit(organizationId, 100n, "r")
          // A member of each gateway's own, so that nothing but the pool is shared.
          const memberIds = yield* Effect.forEach(ledgers, () =>
            access.createMember(organizationId, { name: "m", monthlyCapNano: null })
          )
          const answers = yield* Effect.all(
            Array.from({ length: 500 }, (_, index) =>
              Effect.result(
                (ledgers[index % 2] ?? ledgers[0]).hold(
                  request(organizationId, memberIds[index % 2] ?? "", `im_${index}`, 1n)
                )
              )
            ),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(answers.filter(Result.isSuccess).length, 100)
          assert.deepEqual(yield* ledgers[1].balance(organizationId), {
            balanceNano: 100n,
            heldNano: 100n
          })
        }
        assert.deepEqual(yield* ledgers[0].verify, [])
      })
    )

    it.effect("never admits more than the cap, of any mix of sizes", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const ledgers = yield* TwoLedgers
        const dice = diceOf(SEED)
        for (let round = 0; round < ROUNDS; round++) {
          const organizationId = yield* access.createOrganization("Test")
          yield* ledgers[0].deposit(organizationId, 1_000_000n, "r")
          const memberId = yield* access.createMember(organizationId, {
            name: "m",
            monthlyCapNano: 1000n
          })
          const sizes = Array.from({ length: 500 }, () => BigInt(1 + dice.roll(20)))
          const answers = yield* Effect.all(
            sizes.map((size, index) =>
              Effect.result(
                dice.pick(ledgers).hold(request(organizationId, memberId, `im_${index}`, size))
              )
            ),
            { concurrency: "unbounded" }
          )
          const admitted = sizes.reduce(
            (sum, size, index) => (answers[index]?._tag === "Success" ? sum + size : sum),
            0n
          )
          const month = yield* ledgers[1].memberMonth(organizationId, memberId)
          assert.deepEqual(month, { capNano: 1000n, capturedNano: 0n, heldNano: admitted })
          // What was refused did not fit: the room left is smaller than the largest size.
          assert.isTrue(admitted <= 1000n && admitted > 1000n - 20n, `LEDGER_SEED=${SEED}`)
          assert.deepEqual(
            new Set(answers.flatMap((one) => (Result.isFailure(one) ? [one.failure._tag] : []))),
            new Set(["member_cap_exceeded"])
          )
        }
        assert.deepEqual(yield* ledgers[0].verify, [])
      })
    )

    it.effect("admits nothing more once the cap is lowered below what is used", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const accounts = yield* Accounts
        const ledgers = yield* TwoLedgers
        const organizationId = yield* access.createOrganization("Test")
        yield* ledgers[0].deposit(organizationId, 1_000_000n, "r")
        const memberId = yield* access.createMember(organizationId, {
          name: "m",
          monthlyCapNano: 1000n
        })
        const crowd = (from: number) =>
          Effect.all(
            Array.from({ length: 300 }, (_, index) =>
              Effect.result(
                (ledgers[index % 2] ?? ledgers[0]).hold(
                  request(organizationId, memberId, `im_${from + index}`, 10n)
                )
              )
            ),
            { concurrency: "unbounded" }
          )
        const running = yield* Effect.forkChild(crowd(0))
        yield* accounts.changeMember(memberId, { monthlyCapNano: 40n })
        yield* Fiber.join(running)
        const { heldNano } = yield* ledgers[0].memberMonth(organizationId, memberId)
        assert.isTrue(heldNano >= 40n && heldNano <= 1000n)
        const later = yield* crowd(1000)
        assert.isTrue(later.every(Result.isFailure))
        assert.strictEqual(
          (yield* ledgers[0].memberMonth(organizationId, memberId)).heldNano,
          heldNano
        )
      })
    )

    it.effect("closes each hold once, in whatever order both are asked to", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const ledgers = yield* TwoLedgers
        const organizationId = yield* access.createOrganization("Test")
        yield* ledgers[0].deposit(organizationId, 1_000_000n, "r")
        const memberIds = yield* Effect.forEach(Array.from({ length: 10 }), () =>
          access.createMember(organizationId, { name: "m", monthlyCapNano: null })
        )
        const ids = Array.from({ length: 400 }, (_, index) => `im_${index}`)
        const everywhere = { concurrency: "unbounded" } as const
        yield* Effect.forEach(
          ids,
          (id, index) =>
            ledgers[0].hold(request(organizationId, memberIds[index % 10] ?? "", id, 10n)),
          everywhere
        )
        const capture = (ledger: Ledger["Service"], holdId: string) =>
          ledger.capture({
            organizationId,
            holdId,
            by: "sweep" as const,
            task: null,
            answer: null,
            chargeNano: 7n,
            usage: usageOf(7n)
          })
        const [forward, backward] = yield* Effect.all(
          [
            Effect.forEach(ids, (id) => capture(ledgers[0], id), everywhere),
            Effect.forEach(ids.toReversed(), (id) => capture(ledgers[1], id), everywhere)
          ],
          everywhere
        )
        assert.strictEqual([...forward, ...backward].filter(({ won }) => won).length, 400)
        assert.deepEqual(yield* ledgers[0].balance(organizationId), {
          balanceNano: 1_000_000n - 2800n,
          heldNano: 0n
        })
        assert.deepEqual(yield* ledgers[0].verify, [])
      })
    )

    it.effect("locks the pool before anything else of its organisation", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const sql = yield* SqlClient.SqlClient
        const [ledger] = yield* TwoLedgers
        const organizationId = yield* access.createOrganization("Test")
        yield* ledger.deposit(organizationId, 100n, "r")
        const memberId = yield* access.createMember(organizationId, {
          name: "m",
          monthlyCapNano: null
        })
        const ids = ["im_x", "im_b", "im_a"]
        for (const id of ids) yield* ledger.hold(request(organizationId, memberId, id, 10n))
        const released = Effect.forEach(
          ids,
          (holdId) =>
            ledger.release({
              organizationId,
              holdId,
              by: "sweep" as const,
              task: null,
              orphan: null,
              answer: null,
              forgetKey: false
            }),
          { concurrency: "unbounded" }
        )
        /** Whether somebody waits for the transaction this is asked in. */
        const isWaitedFor = sql`
          SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`.pipe(
          Effect.map((rows) => rows.length > 0)
        )
        const isFree = (table: string) =>
          sql`SELECT 1 FROM ${sql.literal(table)} WHERE organization_id = ${organizationId}
                 FOR UPDATE NOWAIT`
        const beside = Effect.gen(function* () {
          yield* sql`SELECT 1 FROM pools WHERE organization_id = ${organizationId} FOR UPDATE`
          const releasing = yield* Effect.forkDetach(released)
          yield* isWaitedFor.pipe(
            Effect.delay("5 millis"),
            Effect.repeat({ until: (waiting) => waiting })
          )
          yield* isFree("orders")
          yield* isFree("member_months")
          return releasing
        })
        const releasing = yield* sql.withTransaction(beside)
        const closed = yield* Fiber.join(releasing)
        assert.isTrue(closed.every(({ won }) => won))
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect(
      `balances at every moment of ${OPERATIONS} mixed operations of ${CLIENTS} clients`,
      () =>
        Effect.gen(function* () {
          const access = yield* Access
          const sql = yield* SqlClient.SqlClient
          const ledgers = yield* TwoLedgers
          const organizations = yield* Effect.forEach(
            Array.from({ length: 10 }),
            Effect.fnUntraced(function* () {
              const id = yield* access.createOrganization("Test")
              yield* ledgers[0].deposit(id, 5_000n, "first")
              const members = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) =>
                access.createMember(id, { name: "m", monthlyCapNano: index < 10 ? null : 2_000n })
              )
              return { id, members }
            })
          )
          let reads = 0
          const watch = sql`SELECT count(*) AS n FROM ledger_audit`.pipe(
            Effect.flatMap(Schema.decodeUnknownEffect(Count)),
            Effect.tap(([{ n }]) =>
              Effect.sync(() => {
                reads++
                assert.strictEqual(n, 0n, `LEDGER_SEED=${SEED}`)
              })
            ),
            Effect.delay("50 millis"),
            Effect.forever
          )
          yield* Effect.raceFirst(
            Effect.all(
              Array.from({ length: CLIENTS }, (_, index) => runClient(organizations, index)),
              { concurrency: "unbounded", discard: true }
            ),
            watch
          )
          assert.isAbove(reads, 0)
          assert.deepEqual(yield* ledgers[0].verify, [])
        })
    )
  }
)
