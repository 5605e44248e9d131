/** Transfers in memory; each is one synchronous step, which no other fiber can interrupt. */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { transferPrefix } from "../../domain/money/transfers.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  type AdjustmentOutcome,
  answerAdjustment,
  unknownOrganization
} from "../../services/ledgerAnswers.ts"
import {
  type AdjustmentTotals,
  type DepositTotals,
  Transfers
} from "../../services/money/Transfers.ts"
import { notifyOfPool } from "../delivery/notifications.ts"
import { type Books, type MemoryState, MemoryStore, pageOf } from "../memory/MemoryStore.ts"
import type { StoredTransfer } from "./storedTransfers.ts"

/** The largest balance of a pool; a deposit or credit beyond it is refused. */
const MAX_BALANCE_NANO = 4_000_000_000_000_000_000n

/**
 * The part of the charge that no correction has refunded yet; null where the order has no charge.
 */
const refundableNano = ({ orders, transfers }: Books, orderId: string): bigint | null => {
  const order = orders.get(orderId)
  if (order?.state !== "captured") return null
  return transfers
    .filter((transfer) => transfer.orderId === orderId)
    .reduce((nano, { amountNano }) => nano - amountNano, order.chargeNano)
}

/**
 * Makes a transfer. Returns the outcome, the transfer with this reference, and the amount that was
 * available or refundable.
 */
export const transferFunds = (
  state: MemoryState,
  books: Books,
  transfer: StoredTransfer
): {
  readonly outcome: AdjustmentOutcome
  readonly transfer: StoredTransfer
  readonly freeNano: bigint | null
} => {
  const { kind, amountNano, reference, orderId } = transfer
  const { pool, transfers } = books
  const isWithdrawal = kind === "withdrawal"
  const result = (outcome: AdjustmentOutcome, freeNano: bigint | null = null) => ({
    outcome,
    freeNano,
    transfer
  })
  const storedTransfer = transfers.find((one) => one.reference === reference)
  if (storedTransfer !== undefined) {
    const isSame =
      storedTransfer.kind === kind &&
      storedTransfer.amountNano === amountNano &&
      storedTransfer.reason === transfer.reason &&
      storedTransfer.orderId === orderId
    return { outcome: isSame ? "repeated" : "mismatch", freeNano: null, transfer: storedTransfer }
  }
  if (orderId !== null) {
    const freeNano = refundableNano(books, orderId)
    if (freeNano === null) return result("unknown_order")
    if (amountNano > freeNano) return result("beyond_charge", freeNano)
  }
  const availableNano = pool.balanceNano - pool.heldNano
  if (isWithdrawal && amountNano > availableNano) {
    return result("insufficient_balance", availableNano)
  }
  if (!isWithdrawal && pool.balanceNano > MAX_BALANCE_NANO - amountNano) return result("too_large")
  pool.balanceNano += isWithdrawal ? -amountNano : amountNano
  notifyOfPool(state, books, transfer.createdAt.getTime())
  transfers.push(transfer)
  return result("applied")
}

const transfersOf = ({ organizations }: MemoryState, organizationId: string) =>
  organizations.get(organizationId)?.transfers ?? []

const totalsOf = (transfers: ReadonlyArray<StoredTransfer>): DepositTotals => ({
  count: transfers.length,
  amountNano: transfers.reduce((sum, { amountNano }) => sum + amountNano, 0n)
})

export const layerTransfersMemory = Layer.effect(
  Transfers,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const { currency } = yield* Settings
    return Transfers.of({
      adjust: Effect.fn("Transfers.adjust")(function* ({ organizationId, ...adjustment }) {
        const books = store.organizations.get(organizationId)
        if (books === undefined) return yield* unknownOrganization
        const result = transferFunds(store, books, {
          ...adjustment,
          id: transferPrefix + (yield* random.uuidV7()),
          createdAt: new Date(yield* Clock.currentTimeMillis)
        })
        const answer = yield* answerAdjustment(result, adjustment.amountNano, currency)
        const { transfer } = result
        if (transfer.kind === "deposit") {
          return yield* Effect.die(new Error("a deposit was repeated"))
        }
        return { adjustment: { ...transfer, organizationId }, applied: answer }
      }),
      adjustments: Effect.fn("Transfers.adjustments")((organizationId, page) =>
        Effect.suspend(() =>
          pageOf(
            transfersOf(store, organizationId).flatMap((transfer) =>
              transfer.kind === "deposit" ? [] : [{ ...transfer, organizationId }]
            ),
            page
          )
        )
      ),
      deposits: Effect.fn("Transfers.deposits")((organizationId, page) =>
        Effect.suspend(() =>
          pageOf(
            transfersOf(store, organizationId).flatMap(
              ({ id, kind, amountNano, reference, createdAt }) =>
                kind === "deposit" ? [{ id, organizationId, amountNano, reference, createdAt }] : []
            ),
            page
          )
        )
      ),
      depositTotals: Effect.fn("Transfers.depositTotals")((organizationId) =>
        Effect.sync(() =>
          totalsOf(transfersOf(store, organizationId).filter(({ kind }) => kind === "deposit"))
        )
      ),
      adjustmentTotals: Effect.fn("Transfers.adjustmentTotals")((organizationId) =>
        Effect.sync(() =>
          [...Map.groupBy(transfersOf(store, organizationId), ({ kind }) => kind)]
            .flatMap(
              ([kind, group]): ReadonlyArray<AdjustmentTotals> =>
                kind === "deposit" ? [] : [{ kind, ...totalsOf(group) }]
            )
            .toSorted((one, other) => (one.kind < other.kind ? -1 : 1))
        )
      )
    })
  })
)
