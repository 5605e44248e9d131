import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger, layerStoresMemory, MemoryStore } from "../../src/testing/doubles.ts"
import type { Books } from "../../src/testing/memory/MemoryStore.ts"
import { jobId, organization, usageOf } from "../support/ledger.ts"

const task = { listedProtocol: "vp_d", summary: {}, submitSeconds: 60 }

/** One hold that is charged, one that is returned, and a task with a key that is submitting. */
const soundBooks = Effect.gen(function* () {
  const ledger = yield* Ledger
  const { organizationId, hold, close } = yield* organization(1000n)
  const job = {
    channelId: "ch",
    protocol: "vp_e",
    upstreamModel: "u",
    billUnitPrice: "0.000000003"
  }
  const [charged, returned] = [hold(10n, { job }), hold(10n)]
  for (const request of [charged, returned]) yield* ledger.hold(request)
  const key = { key: "k", fingerprint: "f" }
  yield* ledger.hold(hold(10n, { id: jobId("vt"), task, key, quote: { holdNano: "10" } }))
  yield* ledger.capture({
    ...close(charged.id),
    chargeNano: 15n,
    usage: usageOf(15n),
    vendorBill: { amountNano: 1_500_000_000n, unit: "credit" },
    reportedCostNano: 5n
  })
  yield* ledger.release({ ...close(returned.id), orphan: null, forgetKey: false })
  const books = (yield* MemoryStore).organizations.get(organizationId)
  return yield* Effect.orDie(Effect.fromNullishOr(books))
})

const first = <A>(values: Iterable<A>): A => {
  for (const value of values) return value
  throw new Error("there is nothing to break")
}

const orderIn = ({ orders }: Books, wanted: "open" | "captured") =>
  first([...orders.values()].filter(({ state }) => state === wanted))

/** That of the order that is open. */
const taskIn = (books: Books) => {
  const { task } = orderIn(books, "open")
  assert.isNotNull(task)
  return task
}

interface Tampering {
  readonly says: string
  readonly invariant: string
  readonly tamper: (books: Books) => void
}

const tamperings: ReadonlyArray<Tampering> = [
  {
    says: "a balance that grew by itself",
    invariant: "I1",
    tamper: ({ pool }) => {
      pool.balanceNano += 1n
    }
  },
  { says: "a deposit that went", invariant: "I1", tamper: ({ transfers }) => transfers.shift() },
  {
    says: "more held than is open",
    invariant: "I2",
    tamper: ({ pool }) => {
      pool.heldNano += 1n
    }
  },
  {
    says: "more uncovered than is open",
    invariant: "I2",
    tamper: ({ pool }) => {
      pool.uncoveredNano += 1n
    }
  },
  {
    says: "a quote that can come to more than its order",
    invariant: "I4",
    tamper: (books) => {
      Object.assign(orderIn(books, "open").request, {
        quote: { holdNano: "10", exposureNano: "11" }
      })
    }
  },
  {
    says: "a month that was charged more",
    invariant: "I3",
    tamper: ({ months }) => {
      first(months.values()).capturedNano += 1n
    }
  },
  { says: "a month that went", invariant: "I3", tamper: ({ months }) => months.clear() },
  {
    says: "an order that was charged something else",
    invariant: "I4",
    tamper: (books) => {
      orderIn(books, "captured").chargeNano += 1n
    }
  },
  {
    says: "a reported cost that is not the vendor's bill",
    invariant: "I4",
    tamper: (books) => {
      orderIn(books, "captured").reportedCostNano = 4n
    }
  },
  {
    says: "a usage record that went",
    invariant: "I4",
    tamper: (books) => {
      orderIn(books, "captured").usage = null
    }
  },
  {
    says: "a charge of an order that is open",
    invariant: "I4",
    tamper: (books) => {
      orderIn(books, "open").chargeNano = 1n
    }
  },
  {
    says: "a pool far below zero",
    invariant: "I5",
    tamper: ({ pool }) => {
      pool.balanceNano = -100n
    }
  },
  {
    says: "a task that ended without its order",
    invariant: "I7",
    tamper: (books) => {
      taskIn(books).state = "rejected"
    }
  },
  {
    says: "an order that was closed without its task",
    invariant: "I7",
    tamper: (books) => {
      orderIn(books, "open").state = "released"
    }
  },
  {
    says: "an idempotency key without its order",
    invariant: "I9",
    tamper: (books) => books.orders.delete(orderIn(books, "open").request.id)
  }
]

describe("the audit of books in memory", () => {
  it.effect("finds nothing in sound ones", () =>
    Effect.gen(function* () {
      yield* soundBooks
      assert.deepStrictEqual(yield* (yield* Ledger).verify, [])
    }).pipe(Effect.provide(layerStoresMemory()))
  )

  it.effect.each(tamperings.map((one) => [one.says, one] as const))(
    "notices %s",
    ([, { invariant, tamper }]) =>
      Effect.gen(function* () {
        const books = yield* soundBooks
        tamper(books)
        const violations = yield* (yield* Ledger).verify
        assert.include(
          violations.map((violation) => violation.invariant),
          invariant
        )
        assert.isTrue(violations.every(({ organizationId }) => organizationId === books.id))
      }).pipe(Effect.provide(layerStoresMemory()))
  )
})
