/** The ledger in memory. It decides and charges exactly as the ledger in PostgreSQL. */
import { Clock, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { transferPrefix } from "../../domain/money/transfers.ts"
import { OPERATORS } from "../../features/webhooks/WebhookEndpoints.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type Capture, Ledger, type Release } from "../../services/Ledger.ts"
import {
  answerDeposit,
  answerHold,
  DepositOutcome,
  releaseOfAbandoned,
  unknownOrganization
} from "../../services/ledgerAnswers.ts"
import { notifyEndpoints, notifyOfPool } from "../delivery/notifications.ts"
import { capOf } from "../money/countedBudgets.ts"
import { transferFunds } from "../money/TransfersMemory.ts"
import { MemoryStore, monthKey, pageOf, poolOf } from "./MemoryStore.ts"
import { auditBooks } from "./memoryAudit.ts"
import { closeHold, holdFunds, journalOf, monthAt, reassignOrder } from "./movements.ts"

const MAX_VIOLATIONS = 1000

const decodeDepositOutcome = Schema.decodeUnknownEffect(DepositOutcome)

export const layerLedgerMemory = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const { currency, timeZone, idempotencySeconds } = yield* Settings
    const random = yield* SecureRandom.SecureRandom

    const hold: Ledger["Service"]["hold"] = Effect.fn("Ledger.hold")(function* (request) {
      const nowMillis = yield* Clock.currentTimeMillis
      const { organizationId, amountNano } = request
      const books = store.organizations.get(organizationId)
      if (books === undefined || amountNano <= 0n) {
        return yield* Effect.die(new Error(`a hold of ${amountNano} in ${organizationId}`))
      }
      const closeTime = { nowMillis, timeZone, keySeconds: idempotencySeconds }
      const outcome = holdFunds(store, books, request, closeTime)
      return yield* answerHold(outcome, request, currency)
    })

    const close = Effect.fnUntraced(function* (request: Capture | Release) {
      const nowMillis = yield* Clock.currentTimeMillis
      const books = store.organizations.get(request.organizationId)
      const closeResult =
        books === undefined ? null : closeHold(store, books, request, { nowMillis, timeZone })
      return closeResult ?? (yield* Effect.die(new Error(`no hold is called ${request.holdId}`)))
    })

    const booksOf = (organizationId: string) =>
      Effect.suspend(() => {
        const books = store.organizations.get(organizationId)
        return books === undefined ? Effect.fail(unknownOrganization) : Effect.succeed(books)
      })

    // The first violations of all organisations come first, then the second ones, and so on. An
    // organisation with many violations therefore cannot push the others off the limited list.
    const verify = Effect.sync(() =>
      [...store.organizations.values()]
        .flatMap((books) => auditBooks(books).map((violation, nth) => ({ violation, nth })))
        .sort((a, b) => a.nth - b.nth)
        .slice(0, MAX_VIOLATIONS)
        .map(({ violation }) => violation)
    )

    return Ledger.of({
      hold,
      reassign: Effect.fn("Ledger.reassign")(function* (reassignment) {
        const books = store.organizations.get(reassignment.organizationId)
        const nowMillis = yield* Clock.currentTimeMillis
        return books !== undefined && reassignOrder(books, reassignment, nowMillis)
      }),
      capture: close,
      release: close,
      deposit: Effect.fn("Ledger.deposit")(function* (organizationId, amountNano, reference) {
        const books = yield* booksOf(organizationId)
        if (amountNano <= 0n) return yield* Effect.die(new Error(`a deposit of ${amountNano}`))
        const { outcome } = transferFunds(store, books, {
          id: transferPrefix + (yield* random.uuidV7()),
          kind: "deposit",
          amountNano,
          reference,
          reason: null,
          author: null,
          orderId: null,
          createdAt: new Date(yield* Clock.currentTimeMillis)
        })
        return yield* answerDeposit(yield* Effect.orDie(decodeDepositOutcome(outcome)))
      }),
      balance: Effect.fn("Ledger.balance")((organizationId) =>
        Effect.map(booksOf(organizationId), ({ pool }) => ({
          balanceNano: pool.balanceNano,
          heldNano: pool.heldNano
        }))
      ),
      pool: Effect.fn("Ledger.pool")((organizationId) =>
        Effect.map(booksOf(organizationId), poolOf)
      ),
      lowBalance: (organizationId) =>
        Effect.map(booksOf(organizationId), ({ pool }) => pool.lowNano),
      memberMonth: Effect.fn("Ledger.memberMonth")(function* (organizationId, memberId) {
        const first = monthAt(yield* Clock.currentTimeMillis, timeZone)
        const books = store.organizations.get(organizationId)
        if (books?.members.has(memberId) !== true) {
          return yield* Effect.die(new Error(`no member is called ${memberId}`))
        }
        const month = books.months.get(monthKey(memberId, first))
        return {
          capNano: capOf(books, memberId)?.amountNano ?? null,
          capturedNano: month?.capturedNano ?? 0n,
          heldNano: month?.heldNano ?? 0n
        }
      }),
      journal: Effect.fn("Ledger.journal")((organizationId, page) =>
        Effect.suspend(() => {
          const books = store.organizations.get(organizationId)
          return pageOf(books === undefined ? [] : journalOf(books), page)
        })
      ),
      verify,
      suspects: () => Effect.sync(() => [...store.organizations.keys()]),
      verifyOf: (organizationIds) =>
        Effect.map(verify, (violations) =>
          violations.filter(({ organizationId }) => organizationIds.includes(organizationId))
        ),
      stopSpending: Effect.fn("Ledger.stopSpending")((reasons) =>
        Effect.map(Clock.currentTimeMillis, (nowMillis) => {
          for (const { id, pool } of store.organizations.values()) {
            const reason = reasons.get(id) ?? null
            if (reason !== null && pool.stoppedReason === null) {
              const data = { organization_id: id, reason }
              const event = { type: "ledger.violation", taskId: null, data }
              notifyEndpoints(store, OPERATORS, id, event, nowMillis)
            }
            pool.stoppedReason = reason
          }
        })
      ),
      setLowBalance: Effect.fn("Ledger.setLowBalance")(function* (organizationId, lowNano) {
        const books = yield* booksOf(organizationId)
        Object.assign(books.pool, { lowNano, isLowNotified: false })
        notifyOfPool(store, books, yield* Clock.currentTimeMillis)
      }),
      sweepExpiredHolds: Effect.fn("Ledger.sweepExpiredHolds")(function* (scope) {
        const nowMillis = yield* Clock.currentTimeMillis
        const expiredHolds = [...store.organizations.values()].flatMap(({ orders }) =>
          [...orders.values()].filter(
            ({ state, expiresAt, task }) =>
              state === "open" && (scope === "all" || expiresAt <= nowMillis) && task === null
          )
        )
        for (const { request } of expiredHolds) {
          yield* close(releaseOfAbandoned(request.organizationId, request.id))
        }
        return expiredHolds.length
      })
    })
  })
)
