/** Transfers in memory, each one step that nothing can come between. */
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

/** Beyond it a pool takes no deposit. */
const MAX_BALANCE_NANO = 4_000_000_000_000_000_000n

/** What may be taken of the charge still; null where there is none. */
const leftOfCharge = ({ orders, transfers }: Books, orderId: string): bigint | null => {
  const order = orders.get(orderId)
  if (order?.state !== "captured") return null
  const given = transfers.filter((one) => one.orderId === orderId)
  return given.reduce((left, { amountNano }) => left - amountNano, order.chargeNano)
}

/** What became of it, the transfer of the reference, and what there was to take. */
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
  const isIn = kind !== "withdrawal"
  const ended = (outcome: AdjustmentOutcome, freeNano: bigint | null = null, of = transfer) => ({
    ...{ outcome, freeNano, transfer: of }
  })
  const known = transfers.find((one) => one.reference === reference)
  if (known !== undefined) {
    const isSame =
      known.kind === kind &&
      known.amountNano === amountNano &&
      known.reason === transfer.reason &&
      known.orderId === orderId
    return ended(isSame ? "repeated" : "mismatch", null, known)
  }
  if (orderId !== null) {
    const left = leftOfCharge(books, orderId)
    if (left === null) return ended("unknown_order")
    if (amountNano > left) return ended("beyond_charge", left)
  }
  const available = pool.balanceNano - pool.heldNano
  if (!isIn && amountNano > available) return ended("insufficient_balance", available)
  if (isIn && pool.balanceNano > MAX_BALANCE_NANO - amountNano) return ended("too_large")
  pool.balanceNano += isIn ? amountNano : -amountNano
  notifyOfPool(state, books, transfer.createdAt.getTime())
  transfers.push(transfer)
  return ended("applied")
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
        const moved = transferFunds(store, books, {
          ...adjustment,
          id: transferPrefix + (yield* random.uuidV7()),
          createdAt: new Date(yield* Clock.currentTimeMillis)
        })
        const applied = yield* answerAdjustment(moved, adjustment.amountNano, currency)
        const { transfer } = moved
        if (transfer.kind === "deposit")
          return yield* Effect.die(new Error("a deposit was repeated"))
        return { adjustment: { ...transfer, organizationId }, applied }
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
              ([kind, made]): ReadonlyArray<AdjustmentTotals> =>
                kind === "deposit" ? [] : [{ kind, ...totalsOf(made) }]
            )
            .toSorted((one, other) => (one.kind < other.kind ? -1 : 1))
        )
      )
    })
  })
)
