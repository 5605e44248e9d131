/** The ledger in memory: it admits, charges and returns what the one in PostgreSQL would. */
import { Clock, Effect, Layer } from "effect"
import {
  depositMismatch,
  depositTooLarge,
  insufficientBalance,
  memberCapExceeded,
  spendingStopped,
  unknownOrganization
} from "../../domain/money/ledgerRefusals.ts"
import { Settings } from "../../runtime/Settings.ts"
import { KeyAlreadyUsed } from "../../services/IdempotencyKeys.ts"
import { type Capture, Ledger, type Release } from "../../services/Ledger.ts"
import { monthAt } from "./calendar.ts"
import { MemoryStore, monthKey } from "./MemoryStore.ts"
import { auditBooks } from "./memoryAudit.ts"
import { closeHold, depositFunds, holdFunds } from "./movements.ts"
import { pageOf } from "./newestFirst.ts"

const MAX_VIOLATIONS = 1000

export const layerLedgerMemory = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const { currency, timeZone, idempotencySeconds } = yield* Settings

    const hold: Ledger["Service"]["hold"] = Effect.fn("Ledger.hold")(function* (request) {
      const nowMillis = yield* Clock.currentTimeMillis
      const { organizationId, amountNano, memberId } = request
      const books = store.organizations.get(organizationId)
      if (books === undefined || amountNano <= 0n) {
        return yield* Effect.die(new Error(`a hold of ${amountNano} in ${organizationId}`))
      }
      const month = monthAt(nowMillis, timeZone)
      const held = holdFunds(books, request, { nowMillis, month, keySeconds: idempotencySeconds })
      switch (held._tag) {
        case "held":
        case "known":
          return
        case "key_used":
          return yield* new KeyAlreadyUsed()
        case "stopped":
          return yield* spendingStopped
        case "member_cap_exceeded":
          return yield* memberCapExceeded(
            currency,
            { requiredNano: amountNano, ...held },
            month.nextBegins,
            nowMillis
          )
        case "insufficient_balance":
          return yield* insufficientBalance(currency, amountNano, held.availableNano)
        case "unknown_member":
          return yield* Effect.die(new Error(`unknown_member for a hold of ${memberId}`))
      }
    })

    const close = Effect.fnUntraced(function* (request: Capture | Release) {
      const nowMillis = yield* Clock.currentTimeMillis
      const books = store.organizations.get(request.organizationId)
      const closed = books === undefined ? null : closeHold(store, books, request, nowMillis)
      return closed ?? (yield* Effect.die(new Error(`no hold is called ${request.holdId}`)))
    })

    const booksOf = (organizationId: string) =>
      Effect.suspend(() => {
        const books = store.organizations.get(organizationId)
        return books === undefined ? Effect.fail(unknownOrganization) : Effect.succeed(books)
      })

    const deposit: Ledger["Service"]["deposit"] = Effect.fn("Ledger.deposit")(
      function* (organizationId, amountNano, reference) {
        const books = yield* booksOf(organizationId)
        if (amountNano <= 0n) return yield* Effect.die(new Error(`a deposit of ${amountNano}`))
        const nowMillis = yield* Clock.currentTimeMillis
        switch (depositFunds(store, books, amountNano, reference, nowMillis)) {
          case "applied":
            return true
          case "repeated":
            return false
          case "mismatch":
            return yield* depositMismatch
          case "too_large":
            return yield* depositTooLarge
        }
      }
    )

    const balance: Ledger["Service"]["balance"] = Effect.fn("Ledger.balance")((organizationId) =>
      Effect.map(booksOf(organizationId), ({ pool }) => ({
        balanceNano: pool.balanceNano,
        heldNano: pool.heldNano
      }))
    )

    const memberMonth: Ledger["Service"]["memberMonth"] = Effect.fn("Ledger.memberMonth")(
      function* (organizationId, memberId) {
        const { first } = monthAt(yield* Clock.currentTimeMillis, timeZone)
        const books = store.organizations.get(organizationId)
        const member = books?.members.get(memberId)
        if (member === undefined) {
          return yield* Effect.die(new Error(`no member is called ${memberId}`))
        }
        const month = books?.months.get(monthKey(memberId, first))
        return {
          capNano: member.monthlyCapNano,
          capturedNano: month?.capturedNano ?? 0n,
          heldNano: month?.heldNano ?? 0n
        }
      }
    )

    const journal: Ledger["Service"]["journal"] = Effect.fn("Ledger.journal")(
      (organizationId, page) =>
        Effect.suspend(() => pageOf(store.organizations.get(organizationId)?.journal ?? [], page))
    )

    // The first of every organisation come first, so that one cannot hide the others.
    const verify = Effect.sync(() =>
      [...store.organizations.values()]
        .flatMap((books) => auditBooks(books).map((violation, nth) => ({ violation, nth })))
        .sort((a, b) => a.nth - b.nth)
        .slice(0, MAX_VIOLATIONS)
        .map(({ violation }) => violation)
    )

    const stopSpending: Ledger["Service"]["stopSpending"] = Effect.fn("Ledger.stopSpending")(
      (reasons) =>
        Effect.sync(() => {
          for (const { id, pool } of store.organizations.values()) {
            pool.stoppedReason = reasons.get(id) ?? null
          }
        })
    )

    const sweepImages: Ledger["Service"]["sweepImages"] = Effect.fn("Ledger.sweepImages")(
      function* (scope) {
        const nowMillis = yield* Clock.currentTimeMillis
        const left = [...store.organizations.values()].flatMap(({ holds, tasks }) =>
          [...holds.values()].filter(
            ({ state, expiresAt, request }) =>
              state === "open" &&
              (scope === "all" || expiresAt <= nowMillis) &&
              !tasks.has(request.id)
          )
        )
        for (const { request } of left) {
          yield* close({
            organizationId: request.organizationId,
            holdId: request.id,
            by: "sweep",
            task: null,
            orphan: { upstreamId: null, reason: "gateway_stopped" },
            answer: null,
            forgetKey: false
          })
        }
        return left.length
      }
    )

    return Ledger.of({
      hold,
      capture: close,
      release: close,
      deposit,
      balance,
      memberMonth,
      journal,
      verify,
      suspects: () => Effect.sync(() => [...store.organizations.keys()]),
      verifyOf: (organizationIds) =>
        Effect.map(verify, (found) =>
          found.filter(({ organizationId }) => organizationIds.includes(organizationId))
        ),
      stopSpending,
      sweepImages
    })
  })
)
