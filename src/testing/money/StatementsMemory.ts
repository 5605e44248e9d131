/** Statements in memory, computed from orders and transfers on each read. */
import { Clock, DateTime, Effect, Layer, Order, Stream } from "effect"
import { firstDayOf } from "../../domain/money/months.ts"
import type { TransferKind } from "../../domain/money/transfers.ts"
import {
  type CorrectedOrder,
  MAX_STATEMENT_LINES,
  noSuchStatement,
  type Statement,
  type StatementEntry,
  Statements
} from "../../features/statements/Statements.ts"
import { Settings } from "../../runtime/Settings.ts"
import { usageId } from "../../services/UsageLog.ts"
import {
  type Books,
  byCreation,
  MemoryStore,
  pageOf,
  type StoredOrder
} from "../memory/MemoryStore.ts"
import type { StoredTransfer } from "./storedTransfers.ts"

const AFTER_MONTH_MILLIS = 60_000

const sumOf = (amounts: ReadonlyArray<bigint>): bigint =>
  amounts.reduce((sum, amount) => sum + amount, 0n)

const signedAmount = ({ kind, amountNano }: StoredTransfer): bigint =>
  kind === "withdrawal" ? -amountNano : amountNano

const nameOfMember = ({ members }: Books, memberId: string): string =>
  members.get(memberId)?.name ?? ""

const correctedOrder = (books: Books, orderId: string | null): CorrectedOrder | null => {
  const order = books.orders.get(orderId ?? "")
  if (order === undefined) return null
  const { memberId, keyId, modality, metadata = null } = order.request
  return {
    month: order.month.slice(0, 7),
    memberId,
    memberName: nameOfMember(books, memberId),
    keyId,
    modality,
    metadata
  }
}

const transferEntry = (books: Books, transfer: StoredTransfer): StatementEntry => ({
  id: transfer.id,
  kind: transfer.kind,
  at: transfer.createdAt,
  amountNano: signedAmount(transfer),
  memberId: null,
  memberName: null,
  keyId: null,
  model: null,
  modality: null,
  input: null,
  output: null,
  unit: null,
  unitPriceNano: null,
  inputUnitPriceNano: null,
  parts: null,
  quote: null,
  metadata: null,
  correctedId: transfer.orderId === null ? null : usageId(transfer.orderId),
  corrected: correctedOrder(books, transfer.orderId),
  reference: transfer.reference,
  reason: transfer.reason,
  author: transfer.author
})

const chargeEntry = (
  books: Books,
  { request, usage, held, chargeNano }: StoredOrder
): StatementEntry => ({
  id: usageId(request.id),
  kind: "charge",
  at: held.at,
  amountNano: -chargeNano,
  memberId: request.memberId,
  memberName: nameOfMember(books, request.memberId),
  keyId: request.keyId,
  model: request.model,
  modality: request.modality,
  input: usage?.input ?? null,
  output: usage?.output ?? null,
  unit: usage?.unit ?? null,
  unitPriceNano: usage?.unitPriceNano ?? null,
  inputUnitPriceNano: usage?.inputUnitPriceNano ?? null,
  parts: usage?.parts === undefined || usage.parts.length === 0 ? null : usage.parts,
  quote: request.quote,
  metadata: request.metadata ?? null,
  correctedId: null,
  corrected: null,
  reference: null,
  reason: null,
  author: null
})

interface Line {
  readonly order: StoredOrder
  readonly grossNano: bigint
  readonly returnedNano: bigint
}

const chargesOf = (lines: ReadonlyArray<Line>) => ({
  count: lines.filter(({ grossNano }) => grossNano > 0n).length,
  grossNano: sumOf(lines.map(({ grossNano }) => grossNano)),
  returnedNano: sumOf(lines.map(({ returnedNano }) => returnedNano))
})

type NamedLine = readonly [names: readonly [string, ...Array<string>], line: Line]

/** Sums charges by their names, sorted by charge in descending order, then by name. */
const chargesByNames = (lines: ReadonlyArray<NamedLine>) =>
  [...Map.groupBy(lines, ([names]) => JSON.stringify(names)).values()]
    .map((group) => ({
      names: group[0]?.[0] ?? [""],
      charges: chargesOf(group.map(([, line]) => line))
    }))
    .toSorted((one, other) =>
      one.charges.grossNano === other.charges.grossNano
        ? Order.Array(Order.String)(one.names, other.names)
        : Order.BigInt(other.charges.grossNano, one.charges.grossNano)
    )

export const layerStatementsMemory = Layer.effect(
  Statements,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    const { timeZone } = yield* Settings

    const timesOf = (month: string) => {
      const first = DateTime.makeZonedUnsafe(firstDayOf(month), {
        timeZone,
        adjustForTimeZone: true
      })
      return {
        from: DateTime.toDateUtc(first),
        to: DateTime.toDateUtc(DateTime.add(first, { months: 1 }))
      }
    }
    const monthAt = (at: Date): string =>
      DateTime.formatIsoDate(DateTime.makeZonedUnsafe(at, { timeZone })).slice(0, 7)
    const monthAfter = (month: string): string => monthAt(timesOf(month).to)

    const ordersOf = ({ orders }: Books) => [...orders.values()]
    const monthOf = ({ month }: StoredOrder): string => month.slice(0, 7)
    const chargedOrdersIn = (books: Books, isIn: (month: string) => boolean) =>
      ordersOf(books).filter((order) => order.state === "captured" && isIn(monthOf(order)))
    const transfersIn = ({ transfers }: Books, isIn: (month: string) => boolean) =>
      transfers.filter(({ createdAt }) => isIn(monthAt(createdAt)))

    const linesOf = (books: Books, month: string): ReadonlyArray<Line> => [
      ...chargedOrdersIn(books, (other) => other === month).map((order) => ({
        order,
        grossNano: order.chargeNano,
        returnedNano: 0n
      })),
      ...transfersIn(books, (other) => other === month).flatMap(({ orderId, amountNano }) => {
        const order = books.orders.get(orderId ?? "")
        return order === undefined ? [] : [{ order, grossNano: 0n, returnedNano: amountNano }]
      })
    ]

    const statementOf = (books: Books, month: string): Statement => {
      const isBefore = (other: string) => other < month
      const openingNano =
        sumOf(transfersIn(books, isBefore).map(signedAmount)) -
        sumOf(chargedOrdersIn(books, isBefore).map(({ chargeNano }) => chargeNano))
      const transfers = transfersIn(books, (other) => other === month)
      const amountsOf = (kind: TransferKind) => {
        const amounts = transfers.flatMap((transfer) =>
          transfer.kind === kind ? [transfer.amountNano] : []
        )
        return { count: amounts.length, amountNano: sumOf(amounts) }
      }
      const lines = linesOf(books, month)
      const charges = chargesOf(lines)
      const openOrders = ordersOf(books).filter(
        (order) => order.state === "open" && monthOf(order) <= month
      )
      const tags = lines.flatMap((line) =>
        Object.entries(line.order.request.metadata ?? {}).map((tag): NamedLine => [tag, line])
      )
      return {
        organizationId: books.id,
        organizationName: books.name,
        month,
        ...timesOf(month),
        openingNano,
        closingNano: openingNano + sumOf(transfers.map(signedAmount)) - charges.grossNano,
        transferTotals: {
          deposit: amountsOf("deposit"),
          credit: amountsOf("credit"),
          withdrawal: amountsOf("withdrawal"),
          correction: amountsOf("correction")
        },
        transfers: transfers
          .toSorted(byCreation)
          .slice(0, MAX_STATEMENT_LINES)
          .map(({ createdAt, orderId, ...transfer }) => ({
            ...transfer,
            correctedId: orderId === null ? null : usageId(orderId),
            at: createdAt
          })),
        charges,
        byModel: chargesByNames(lines.map((line) => [[line.order.request.model], line])).map(
          ({ names: [model], charges }) => ({ model, ...charges })
        ),
        byMember: chargesByNames(lines.map((line) => [[line.order.request.memberId], line])).map(
          ({ names: [memberId], charges }) => ({
            memberId,
            name: nameOfMember(books, memberId),
            ...charges
          })
        ),
        byTag: chargesByNames(tags)
          .slice(0, MAX_STATEMENT_LINES)
          .map(({ names: [name, value = ""], charges }) => ({ name, value, ...charges })),
        openOrders: openOrders.length,
        openNano: sumOf(openOrders.map(({ request }) => request.amountNano)),
        sealBefore:
          books.sealedMonths.find((sealedMonth) => monthAfter(sealedMonth.month) === month)
            ?.sha256 ?? null,
        seal: books.sealedMonths.find((sealedMonth) => sealedMonth.month === month) ?? null
      }
    }

    return Statements.of({
      read: Effect.fn("Statements.read")(function* (organizationId, month) {
        const books = organizations.get(organizationId)
        const now = yield* Clock.currentTimeMillis
        const { from, to } = timesOf(month)
        return books === undefined || from.getTime() > now || to <= books.createdAt
          ? yield* noSuchStatement
          : statementOf(books, month)
      }),
      entries: (organizationId, month) =>
        Stream.suspend(() => {
          const books = organizations.get(organizationId)
          if (books === undefined) return Stream.empty
          const isIn = (other: string) => other === month
          const entries = [
            ...transfersIn(books, isIn).map((transfer) => transferEntry(books, transfer)),
            ...chargedOrdersIn(books, isIn).map((order) => chargeEntry(books, order))
          ]
          return Stream.fromIterable(entries.toSorted(byCreation))
        }),
      sealedMonths: Effect.fn("Statements.sealedMonths")((organizationId, page) =>
        Effect.map(
          pageOf(
            (organizations.get(organizationId)?.sealedMonths ?? []).map((sealedMonth) => ({
              id: sealedMonth.month,
              sealed: sealedMonth
            })),
            page
          ),
          ({ data, hasMore }) => ({ data: data.map(({ sealed }) => sealed), hasMore })
        )
      ),
      sealableMonths: Effect.fn("Statements.sealableMonths")(function* (limit) {
        const now = yield* Clock.currentTimeMillis
        return [...organizations.values()]
          .flatMap((books) => {
            const last = books.sealedMonths.at(-1)
            const month = last === undefined ? monthAt(books.createdAt) : monthAfter(last.month)
            const isOver = timesOf(month).to.getTime() < now - AFTER_MONTH_MILLIS
            const isOpen = ordersOf(books).some(
              (order) => order.state === "open" && monthOf(order) <= month
            )
            return isOver && !isOpen ? [{ organizationId: books.id, month }] : []
          })
          .slice(0, limit)
      }),
      seal: Effect.fn("Statements.seal")(function* (organizationId, month, seal) {
        const sealedAt = new Date(yield* Clock.currentTimeMillis)
        const months = organizations.get(organizationId)?.sealedMonths
        if (months?.some((sealedMonth) => sealedMonth.month === month) === false) {
          months.push({ month, sealedAt, ...seal })
        }
      })
    })
  })
)
