import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { layerStores } from "../../src/gateway.ts"
import { Access } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger, type UsageEntry } from "../../src/services/Ledger.ts"
import { layerDatabase } from "../support/databases.ts"

const secrets = { masterKey: Redacted.make(new Uint8Array(32).fill(7)), adminToken: null }

/** A charge of `units` at one nano-unit each. */
const usageOf = (units: bigint): UsageEntry => ({
  keyId: "key_1",
  taskId: null,
  model: "paint-1",
  modality: "image",
  input: 0n,
  output: units,
  unit: "image",
  unitPriceNano: 1n,
  basis: "requested_images"
})

let minted = 0

/** A fresh organisation with `amountNano` and some members. */
const organization = Effect.fnUntraced(function* (amountNano: bigint, memberCount = 1) {
  const access = yield* Access
  const ledger = yield* Ledger
  const organizationId = yield* access.createOrganization("Test")
  if (amountNano > 0n) yield* ledger.deposit(organizationId, amountNano, "first")
  const memberIds: Array<string> = []
  for (let index = 0; index < memberCount; index++) {
    const member = { name: `member ${index}`, monthlyCapNano: null }
    memberIds.push(yield* access.createMember(organizationId, member))
  }
  const hold = (amount: bigint, more: Partial<HoldRequest> = {}): HoldRequest => ({
    organizationId,
    memberId: memberIds[0] ?? "",
    id: `im_${minted++}`,
    amountNano: amount,
    ttlSeconds: 60,
    quote: {},
    job: { channelId: "ch", protocol: "ip_a", upstreamModel: "u" },
    task: null,
    key: null,
    ...more
  })
  const close = (holdId: string) => ({
    organizationId,
    holdId,
    by: "test",
    task: null,
    answer: null
  })
  return { organizationId, memberIds, hold, close }
})

for (const kind of ["embedded", "postgres"] as const) {
  const stores = layerStores(secrets).pipe(Layer.provideMerge(layerDatabase(kind)))
  layer(stores, { excludeTestServices: true, timeout: "60 seconds" })(
    `the ledger (${kind})`,
    (it) => {
      it.effect("never admits more than the pool has, whoever of its members asks", () =>
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

      it.effect("gives back image holds whose time is over, and only those", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const { organizationId, hold } = yield* organization(100n)
          yield* ledger.hold(hold(10n, { ttlSeconds: 0 }))
          yield* ledger.hold(hold(20n))
          yield* ledger.sweepImages("overdue")
          assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 20n)
        })
      )
    }
  )
}
