/** What every ledger must do, whatever it keeps its books in. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { implausibleUsage } from "../../src/domain/VendorOutcome.ts"
import { Access } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger } from "../../src/services/Ledger.ts"
import { Orphans } from "../../src/services/Orphans.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { type TaskOutcome, TaskRepo } from "../../src/services/TaskRepo.ts"
import { organization, usageOf } from "../support/ledger.ts"
import { upstream } from "../support/tasks.ts"

export const ledgerSuite = (
  name: string,
  ledger: Layer.Layer<Ledger | Access | Accounts | Orphans | TaskRepo, unknown>
): void => {
  layer(ledger, { excludeTestServices: true, timeout: "60 seconds" })(name, (it) => {
    it.effect("never admits more than the pool has, whichever of its members asks", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, memberIds, hold } = yield* organization(50n, 10)
        const asked = Array.from({ length: 200 }, (_, index) =>
          Effect.result(ledger.hold(hold(1n, { memberId: memberIds[index % 10] ?? "" })))
        )
        const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
        assert.strictEqual(answers.filter((answer) => answer._tag === "Success").length, 50)
        assert.deepEqual(yield* ledger.balance(organizationId), {
          balanceNano: 50n,
          heldNano: 50n
        })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("holds an id once, however often it is asked to", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold } = yield* organization(100n)
        const request = hold(60n)
        yield* Effect.all(
          Array.from({ length: 20 }, () => ledger.hold(request)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 60n)
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("closes a hold once: the first of many wins, the others are told the outcome", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const request = hold(60n)
        yield* ledger.hold(request)
        const attempts = Array.from({ length: 40 }, (_, index) =>
          index % 2 === 0
            ? ledger.capture({ ...close(request.id), chargeNano: 50n, usage: usageOf(50n) })
            : ledger.release({ ...close(request.id), orphan: null, forgetKey: false })
        )
        const closed = yield* Effect.all(attempts, { concurrency: "unbounded" })
        assert.strictEqual(closed.filter(({ won }) => won).length, 1)
        assert.strictEqual(new Set(closed.map(({ state }) => state)).size, 1)
        const left = closed[0]?.state === "captured" ? 50n : 100n
        assert.deepEqual(yield* ledger.balance(organizationId), {
          balanceNano: left,
          heldNano: 0n
        })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("captures below and above the hold exactly, and shows what went beyond", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, memberIds, hold, close } = yield* organization(100n)
        const [low, high] = [hold(40n), hold(60n)]
        yield* ledger.hold(low)
        yield* ledger.hold(high)
        const below = yield* ledger.capture({
          ...close(low.id),
          chargeNano: 15n,
          usage: usageOf(15n)
        })
        const above = yield* ledger.capture({
          ...close(high.id),
          chargeNano: 95n,
          usage: usageOf(95n)
        })
        assert.deepInclude(below, { capturedNano: 15n, overageNano: 0n })
        assert.deepInclude(above, { capturedNano: 95n, overageNano: 35n })
        assert.deepEqual(yield* ledger.balance(organizationId), {
          balanceNano: -10n,
          heldNano: 0n
        })
        assert.deepEqual(yield* ledger.memberMonth(organizationId, memberIds[0] ?? ""), {
          capNano: null,
          capturedNano: 110n,
          heldNano: 0n
        })
        const refused = yield* Effect.flip(ledger.hold(hold(1n)))
        assert.deepInclude(refused, {
          _tag: "insufficient_balance",
          required: "0.000000001",
          available: "-0.00000001"
        })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    const insufficient = Effect.fnUntraced(function* (
      request: HoldRequest,
      amounts: { readonly required: string; readonly available: string }
    ) {
      const ledger = yield* Ledger
      const refused = yield* Effect.flip(ledger.hold(request))
      assert.deepInclude(refused, { _tag: "insufficient_balance", ...amounts })
    })

    it.effect(
      "takes an order of unknown size alone by its hold, and beside others by its exposure",
      () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const { organizationId, hold, close } = yield* organization(100n)
          const film = (amount: bigint, exposureNano: bigint) =>
            hold(amount, {
              exposureNano,
              quote: { holdNano: String(amount), exposureNano: String(exposureNano) }
            })
          const alone = film(100n, 900n)
          yield* ledger.hold(alone)
          yield* ledger.release({ ...close(alone.id), orphan: null, forgetKey: false })
          const first = film(10n, 40n)
          yield* ledger.hold(first)
          // A repeat takes nothing again.
          yield* ledger.hold(first)
          yield* ledger.hold(hold(10n))
          assert.deepStrictEqual(yield* ledger.pool(organizationId), {
            balanceNano: 100n,
            heldNano: 20n,
            uncoveredNano: 30n,
            creditNano: 0n
          })
          const beyond = { required: "0.000000051", available: "0.00000005" }
          yield* insufficient(film(51n, 52n), beyond)
          yield* insufficient(hold(51n), beyond)
          const [second, third] = [film(10n, 49n), hold(1n)]
          yield* ledger.hold(second)
          yield* ledger.hold(third)
          yield* insufficient(hold(1n), { required: "0.000000001", available: "0" })
          yield* ledger.capture({ ...close(first.id), chargeNano: 30n, usage: usageOf(30n) })
          yield* insufficient(hold(11n), { required: "0.000000011", available: "0.00000001" })
          yield* ledger.hold(hold(10n))
          yield* ledger.capture({ ...close(second.id), chargeNano: 49n, usage: usageOf(49n) })
          assert.deepStrictEqual(yield* ledger.pool(organizationId), {
            balanceNano: 21n,
            heldNano: 21n,
            uncoveredNano: 0n,
            creditNano: 0n
          })
          yield* insufficient(hold(1n), { required: "0.000000001", available: "0" })
          assert.deepEqual(yield* ledger.verify, [])
        })
    )

    it.effect("takes orders of unknown size as far as the credit, and holds never on credit", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const accounts = yield* Accounts
        const { organizationId, hold, close } = yield* organization(100n)
        yield* accounts.changeOrganization(organizationId, { creditNano: 50n })
        const film = (amount: bigint, exposureNano: bigint) =>
          hold(amount, {
            exposureNano,
            quote: { holdNano: String(amount), exposureNano: String(exposureNano) }
          })
        const [first, second] = [film(10n, 80n), film(10n, 70n)]
        // Those that come together are decided as if one came after the other.
        const results = yield* Effect.all(
          [first, second, film(10n, 11n)].map((request) => Effect.result(ledger.hold(request))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          results.map(({ _tag }) => _tag),
          ["Success", "Success", "Failure"]
        )
        yield* accounts.changeOrganization(organizationId, { creditNano: 49n })
        yield* insufficient(hold(1n), { required: "0.000000001", available: "-0.000000001" })
        yield* ledger.capture({ ...close(first.id), chargeNano: 80n, usage: usageOf(80n) })
        yield* ledger.capture({ ...close(second.id), chargeNano: 70n, usage: usageOf(70n) })
        assert.deepStrictEqual(yield* ledger.pool(organizationId), {
          balanceNano: -50n,
          heldNano: 0n,
          uncoveredNano: 0n,
          creditNano: 49n
        })
        yield* insufficient(hold(1n), { required: "0.000000001", available: "-0.00000005" })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("takes holds on credit exactly as far as it goes, where the pool allows it", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const accounts = yield* Accounts
        const { organizationId, hold, close } = yield* organization(100n)
        const allow = (change: { creditNano?: bigint; holdsOnCredit?: boolean }) =>
          accounts.changeOrganization(organizationId, change)
        yield* allow({ creditNano: 50n })
        yield* insufficient(hold(101n), { required: "0.000000101", available: "0.0000001" })
        assert.include(yield* allow({ holdsOnCredit: true }), {
          creditNano: 50n,
          holdsOnCredit: true
        })
        yield* insufficient(hold(151n), { required: "0.000000151", available: "0.00000015" })
        // Orders that come together are taken as far as the credit, and no further.
        const requests = Array.from({ length: 40 }, () => hold(10n))
        const results = yield* Effect.forEach(
          requests,
          (request) => Effect.result(ledger.hold(request)),
          { concurrency: "unbounded" }
        )
        const held = requests.filter((_, index) => results[index]?._tag === "Success")
        assert.lengthOf(held, 15)
        assert.deepStrictEqual(yield* ledger.pool(organizationId), {
          balanceNano: 100n,
          heldNano: 150n,
          uncoveredNano: 0n,
          creditNano: 50n,
          overdraftNano: 50n
        })
        yield* insufficient(hold(1n), { required: "0.000000001", available: "0" })
        assert.deepEqual(yield* ledger.verify, [])

        // A lower credit is obeyed by the next hold, and the pool is sound below it.
        yield* allow({ creditNano: 20n })
        yield* insufficient(hold(1n), { required: "0.000000001", available: "-0.00000003" })
        assert.deepEqual(yield* ledger.verify, [])
        for (const { id } of held) {
          yield* ledger.capture({ ...close(id), chargeNano: 10n, usage: usageOf(10n) })
        }
        assert.deepEqual(yield* ledger.verify, [])
        yield* allow({ holdsOnCredit: false })
        yield* insufficient(hold(1n), { required: "0.000000001", available: "-0.00000005" })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("counts a credit for holds once, also for what open orders can exceed them by", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const accounts = yield* Accounts
        const { organizationId, hold } = yield* organization(10n)
        yield* accounts.changeOrganization(organizationId, { creditNano: 50n, holdsOnCredit: true })
        const film = hold(10n, {
          exposureNano: 40n,
          quote: { holdNano: "10", exposureNano: "40" }
        })
        yield* ledger.hold(film)
        yield* insufficient(hold(21n), { required: "0.000000021", available: "0.00000002" })
        yield* ledger.hold(hold(20n))
        yield* insufficient(hold(1n), { required: "0.000000001", available: "0" })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("keeps what a vendor counted with the charge", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const orphans = yield* Orphans
        const { organizationId, hold, close } = yield* organization(100n)
        const request = hold(60n)
        yield* ledger.hold(request)
        yield* ledger.capture({
          ...close(request.id),
          chargeNano: 60n,
          usage: usageOf(60n),
          orphan: implausibleUsage({ input: null, output: 9_900_000n }, "up-1")
        })
        const all = { isResolved: false, channelId: null, reason: "implausible_usage" }
        const { data } = yield* orphans.list({ ...all, organizationId }, { after: null, limit: 5 })
        assert.strictEqual(data.length, 1)
        assert.deepInclude(data[0], {
          id: request.id,
          upstreamId: "up-1",
          heldNano: 60n,
          usage: { input: null, output: 9_900_000n }
        })
      })
    )

    it.effect("gives the room under a cap that a close makes to the hold behind it", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const memberId = yield* access.createMember(organizationId, {
          name: "capped",
          monthlyCapNano: 10n
        })
        const capped = (amount: bigint) => hold(amount, { memberId })
        const [first, second] = [capped(10n), capped(8n)]
        yield* ledger.hold(first)
        // One of another member goes ahead, so that those behind it may share a call.
        yield* Effect.all(
          [
            ledger.hold(hold(1n)),
            ledger.release({ ...close(first.id), orphan: null, forgetKey: false }),
            ledger.hold(second)
          ],
          { concurrency: "unbounded" }
        )
        yield* ledger.capture({ ...close(second.id), chargeNano: 3n, usage: usageOf(3n) })
        yield* ledger.hold(capped(7n))
        const refused = yield* Effect.flip(ledger.hold(capped(1n)))
        assert.strictEqual(refused._tag, "member_cap_exceeded")
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("does not take a charge of nothing or less for a charge", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const request = hold(60n)
        yield* ledger.hold(request)
        for (const chargeNano of [0n, -1n]) {
          const exit = yield* Effect.exit(
            ledger.capture({ ...close(request.id), chargeNano, usage: usageOf(1n) })
          )
          assert.strictEqual(exit._tag, "Failure")
        }
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 60n)
      })
    )

    it.effect("knows no hold of another organisation", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const owner = yield* organization(100n)
        const stranger = yield* organization(100n)
        const request = owner.hold(60n)
        yield* ledger.hold(request)
        const exit = yield* Effect.exit(
          ledger.release({ ...stranger.close(request.id), orphan: null, forgetKey: false })
        )
        assert.strictEqual(exit._tag, "Failure")
        assert.strictEqual((yield* ledger.balance(owner.organizationId)).heldNano, 60n)
      })
    )

    it.effect("closes nothing for a task that has moved on, or belongs to another claim", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const tasks = yield* TaskRepo
        const { organizationId, hold, close } = yield* organization(100n)
        const request = hold(60n, {
          quote: {
            kind: "second_video",
            resolution: "720p",
            outputSeconds: 5,
            nanoPerSecond: "12",
            holdNano: "60"
          },
          task: { listedProtocol: "vp_a", summary: {}, submitSeconds: 60 }
        })
        yield* ledger.hold(request)
        yield* tasks.accept(organizationId, request.id, upstream("u"), 0)
        const claims = { limit: 10, perChannel: 10, openByChannel: new Map() }
        const claimed = yield* tasks
          .claimDue(claims)
          .pipe(Effect.repeat({ until: (due) => due.some(({ id }) => id === request.id) }))
        const lease = claimed.find(({ id }) => id === request.id)?.lease ?? 0n
        const ending = { state: "failed", errorCode: "x", errorMessage: "x" } as const
        const release = (task: TaskOutcome) =>
          ledger.release({ ...close(request.id), task, orphan: null, forgetKey: false })
        const stale = { won: false, state: "open", capturedNano: 0n, overageNano: 0n }
        assert.deepEqual(yield* release({ ...ending, from: "submitting" }), stale)
        assert.deepEqual(
          yield* release({ ...ending, from: "processing", lease: lease - 1n }),
          stale
        )
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 60n)
        assert.deepInclude(yield* release({ ...ending, from: "processing", lease }), {
          won: true,
          state: "released"
        })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )

    it.effect("takes no hold while spending is stopped, and closes those there are", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const other = yield* organization(100n)
        const request = hold(60n)
        yield* ledger.hold(request)
        yield* ledger.stopSpending(new Map([[organizationId, "I1: broken"]]))
        assert.strictEqual((yield* Effect.flip(ledger.hold(hold(1n))))._tag, "overloaded")
        yield* ledger.hold(request)
        yield* ledger.hold(other.hold(1n))
        const closed = yield* ledger.capture({
          ...close(request.id),
          chargeNano: 50n,
          usage: usageOf(50n)
        })
        assert.isTrue(closed.won)
        yield* ledger.stopSpending(new Map())
        yield* ledger.hold(hold(1n))
      })
    )

    it.effect("adds a deposit once, also when it comes many times at once", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId } = yield* organization(0n)
        const applied = yield* Effect.all(
          Array.from({ length: 20 }, () => ledger.deposit(organizationId, 7n, "once")),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(applied.filter((one) => one).length, 1)
        assert.strictEqual((yield* ledger.balance(organizationId)).balanceNano, 7n)
      })
    )

    it.effect("gives back image holds whose time is over, and only those", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold } = yield* organization(100n)
        yield* ledger.hold(hold(10n, { ttlSeconds: 0 }))
        yield* ledger.hold(hold(20n))
        yield* ledger.sweepExpiredHolds("overdue")
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 20n)
      })
    )
  })
}
