import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger, layerStoresMemory, MemoryStore } from "../../src/testing/doubles.ts"
import type { Books } from "../../src/testing/memory/MemoryStore.ts"
import { jobId, organization, usageOf } from "../support/ledger.ts"

const task = { keyId: "k", model: "m", listedProtocol: "vp_d", summary: {}, submitSeconds: 60 }

/** One hold that is charged, one that is returned, and a task with a key that is submitting. */
const soundBooks = Effect.gen(function* () {
  const ledger = yield* Ledger
  const { organizationId, hold, close } = yield* organization(1000n)
  const [charged, returned] = [hold(10n), hold(10n)]
  for (const request of [charged, returned]) yield* ledger.hold(request)
  const key = { key: "k", fingerprint: "f" }
  yield* ledger.hold(hold(10n, { id: jobId("vt"), task, key, quote: { holdNano: "10" } }))
  yield* ledger.capture({ ...close(charged.id), chargeNano: 15n, usage: usageOf(15n) })
  yield* ledger.release({ ...close(returned.id), orphan: null, forgetKey: false })
  const books = (yield* MemoryStore).organizations.get(organizationId)
  return yield* Effect.orDie(Effect.fromNullishOr(books))
})

const first = <A>(values: Iterable<A>): A => {
  for (const value of values) return value
  throw new Error("there is nothing to break")
}

const openHold = ({ holds }: Books) =>
  first([...holds.values()].filter(({ state }) => state === "open"))

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
  { says: "a deposit that went", invariant: "I1", tamper: ({ journal }) => journal.shift() },
  {
    says: "more held than is open",
    invariant: "I2",
    tamper: ({ pool }) => {
      pool.heldNano += 1n
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
    says: "a hold that was charged something else",
    invariant: "I4",
    tamper: ({ holds }) => {
      first(holds.values()).capturedNano += 1n
    }
  },
  { says: "a usage record that went", invariant: "I4", tamper: ({ usage }) => usage.pop() },
  {
    says: "a usage record that came twice",
    invariant: "I4",
    tamper: ({ usage }) => usage.push(first(usage))
  },
  {
    says: "a pool far below zero",
    invariant: "I5",
    tamper: ({ pool }) => {
      pool.balanceNano = -100n
    }
  },
  {
    says: "a task that ended without its hold",
    invariant: "I7",
    tamper: ({ tasks }) => {
      first(tasks.values()).state = "rejected"
    }
  },
  {
    says: "a hold that was closed without its task",
    invariant: "I7",
    tamper: (books) => {
      openHold(books).state = "released"
    }
  },
  {
    says: "a task without any hold",
    invariant: "I7",
    tamper: ({ tasks }) => tasks.set("vt_nothing", first(tasks.values()))
  },
  {
    says: "an idempotency key without its hold",
    invariant: "I9",
    tamper: (books) => books.holds.delete(openHold(books).request.id)
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
