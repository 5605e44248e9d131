/** Budgets in memory; each change is one synchronous step, which no other fiber can interrupt. */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../../runtime/Settings.ts"
import {
  type Budget,
  Budgets,
  budgetPrefix,
  noSuchBudget,
  noSuchSubject
} from "../../services/money/Budgets.ts"
import { type Books, MemoryStore, pageOf } from "../memory/MemoryStore.ts"
import { beginBudget, budgetsOf, changeBudget, periodAt } from "./countedBudgets.ts"
import type { Now, StoredBudget } from "./storedBudgets.ts"

const budgetRecord = (
  { id: organizationId }: Books,
  { uses, ...budget }: StoredBudget,
  now: Now
): Budget => {
  const period = periodAt(budget.period, now)
  const use = uses.get(period.startedAt?.getTime() ?? 0)
  return {
    ...budget,
    ...period,
    organizationId,
    heldNano: use?.heldNano ?? 0n,
    capturedNano: use?.capturedNano ?? 0n
  }
}

export const layerBudgetsMemory = Layer.effect(
  Budgets,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const { timeZone } = yield* Settings
    const now = Effect.map(Clock.currentTimeMillis, (nowMillis): Now => ({ nowMillis, timeZone }))

    const find = (organizationId: string, id: string) =>
      Effect.suspend(() => {
        const books = store.organizations.get(organizationId)
        const budget = books?.budgets.get(id)
        return books === undefined || budget === undefined
          ? Effect.fail(noSuchBudget)
          : Effect.succeed({ books, budget })
      })

    const hasSubject = (books: Books, scope: Budget["scope"], subjectId: string): boolean => {
      switch (scope) {
        case "organization":
          return subjectId === books.id
        case "member":
          return books.members.has(subjectId)
        case "key":
          return store.apiKeys.get(subjectId)?.organizationId === books.id
      }
    }

    return Budgets.of({
      create: Effect.fn("Budgets.create")(function* (budget) {
        const id = budgetPrefix + (yield* random.uuidV7())
        const at = yield* now
        const books = store.organizations.get(budget.organizationId)
        if (books === undefined || !hasSubject(books, budget.scope, budget.subjectId)) {
          return yield* noSuchSubject(budget.scope)
        }
        const createdBudget = beginBudget(store, books, { ...budget, id, isCap: false }, at)
        return budgetRecord(books, createdBudget, at)
      }),
      find: Effect.fn("Budgets.find")(function* (organizationId, id) {
        const { books, budget } = yield* find(organizationId, id)
        return budgetRecord(books, budget, yield* now)
      }),
      change: Effect.fn("Budgets.change")(function* (organizationId, id, change) {
        const { books, budget } = yield* find(organizationId, id)
        const at = yield* now
        changeBudget(store, books, budget, change, at)
        return budgetRecord(books, budget, at)
      }),
      remove: Effect.fn("Budgets.remove")(function* (organizationId, id) {
        const { books } = yield* find(organizationId, id)
        books.budgets.delete(id)
      }),
      list: Effect.fn("Budgets.list")(function* (organizationId, subjectId, page) {
        const at = yield* now
        const books = store.organizations.get(organizationId)
        const listedBudgets = [...(books?.budgets.values() ?? [])].filter(
          (budget) => subjectId === null || budget.subjectId === subjectId
        )
        return yield* pageOf(
          books === undefined ? [] : listedBudgets.map((budget) => budgetRecord(books, budget, at)),
          page
        )
      }),
      listUsed: Effect.fn("Budgets.listUsed")(function* (minPercent, page) {
        const at = yield* now
        const usedBudgets = [...store.organizations.values()]
          .flatMap((books) =>
            [...books.budgets.values()].map((budget) => budgetRecord(books, budget, at))
          )
          .filter(({ amountNano, heldNano, capturedNano }) => {
            const usedNano = heldNano + capturedNano
            return usedNano > 0n && usedNano * 100n >= amountNano * BigInt(minPercent)
          })
          .toSorted((one, other) => (one.id < other.id ? -1 : 1))
        return yield* pageOf(usedBudgets, page)
      }),
      listApplicable: Effect.fn("Budgets.listApplicable")(function* (caller) {
        const at = yield* now
        const books = store.organizations.get(caller.organizationId)
        return books === undefined
          ? []
          : budgetsOf(books, caller, at).map(({ budget }) => budgetRecord(books, budget, at))
      })
    })
  })
)
