/** Organisations, members and keys in memory, as operators list and change them. */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { NotFound } from "../../domain/Errors.ts"
import { Changes } from "../../runtime/Changes.ts"
import { Settings } from "../../runtime/Settings.ts"
import { budgetPrefix } from "../../services/money/Budgets.ts"
import {
  Accounts,
  type KeyFilter,
  type KeyRecord,
  type MemberFilter,
  type MemberRecord,
  type OrganizationFilter,
  type OrganizationRecord
} from "../../services/operators/Accounts.ts"
import { unknownPriceList } from "../../services/PriceLists.ts"
import { type Books, MemoryStore, monthKey, pageOf } from "../memory/MemoryStore.ts"
import { monthAt } from "../memory/movements.ts"
import { capOf, setCap } from "../money/countedBudgets.ts"
import type { StoredApiKey, StoredMember } from "./storedAccounts.ts"

const organizationRecord = ({ pool, ...books }: Books): OrganizationRecord => ({
  id: books.id,
  name: books.name,
  balanceNano: pool.balanceNano,
  heldNano: pool.heldNano,
  uncoveredNano: pool.uncoveredNano,
  creditNano: pool.creditNano,
  holdsOnCredit: pool.holdsOnCredit,
  lowNano: pool.lowNano,
  stoppedReason: pool.stoppedReason,
  watermark: books.watermark,
  priceListId: books.priceListId,
  createdAt: books.createdAt,
  disabledAt: books.disabledAt
})

const keyRecord = ({ options, ...key }: StoredApiKey): KeyRecord => ({
  id: key.id,
  organizationId: key.organizationId,
  memberId: key.memberId,
  name: options.name,
  scopes: options.scopes,
  models: options.models,
  requestsPerMinute: options.requestsPerMinute ?? null,
  createdAt: key.createdAt,
  expiresAt: options.expiresAt,
  revokedAt: key.revokedAt
})

/** Applies a change to a field. Undefined leaves the value unchanged; null is a value. */
const valueAfter = <A>(currentValue: A, change: A | undefined): A =>
  change === undefined ? currentValue : change

const disabledAtAfter = (
  currentValue: Date | null,
  enabled: boolean | undefined,
  now: Date
): Date | null => {
  if (enabled === undefined) return currentValue
  return enabled ? null : (currentValue ?? now)
}

const setCredit = (
  pool: Books["pool"],
  creditNano = pool.creditNano,
  holdsOnCredit = pool.holdsOnCredit
): void => {
  Object.assign(pool, { creditNano, holdsOnCredit })
  if (holdsOnCredit && creditNano > pool.highestOverdraftNano) {
    pool.highestOverdraftNano = creditNano
  }
}

const hasPrefix = (prefix: string | null, { name }: { readonly name: string }): boolean =>
  prefix === null || name.toLowerCase().startsWith(prefix.toLowerCase())

/** Whether an organisation or member matches the filter. */
const isMatch = (
  { name, enabled }: Pick<OrganizationFilter, "name" | "enabled">,
  account: { readonly name: string; readonly disabledAt: Date | null }
): boolean =>
  hasPrefix(name, account) && (enabled === null || (account.disabledAt === null) === enabled)

const sum = <A>(entries: ReadonlyArray<A>, amountOf: (entry: A) => bigint): bigint =>
  entries.reduce((total, entry) => total + amountOf(entry), 0n)

const orNotFound = <A>(account: A | undefined, label: string) =>
  account === undefined
    ? Effect.fail(new NotFound({ message: `No such ${label}` }))
    : Effect.succeed(account)

export const layerAccountsMemory = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const { organizations, apiKeys } = store
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const { timeZone } = yield* Settings

    const memberRecord = (books: Books, member: StoredMember, nowMillis: number): MemberRecord => {
      const month = books.months.get(monthKey(member.id, monthAt(nowMillis, timeZone)))
      return {
        id: member.id,
        organizationId: books.id,
        name: member.name,
        capNano: capOf(books, member.id)?.amountNano ?? null,
        capturedNano: month?.capturedNano ?? 0n,
        heldNano: month?.heldNano ?? 0n,
        createdAt: member.createdAt,
        disabledAt: member.disabledAt
      }
    }

    /** All members with their organisations, oldest first: ids begin with their creation time. */
    const allMembers = () =>
      [...organizations.values()]
        .flatMap((books) => [...books.members.values()].map((member) => ({ books, member })))
        .toSorted((one, other) => (one.member.id < other.member.id ? -1 : 1))

    const matchingOrganizations = (filter: OrganizationFilter) =>
      [...organizations.values()].map(organizationRecord).filter((one) => {
        const isLow = one.lowNano !== null && one.balanceNano < one.lowNano
        return isMatch(filter, one) && (filter.hasLowBalance ?? isLow) === isLow
      })

    const matchingMembers = (filter: MemberFilter) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        allMembers()
          .map(({ books, member }) => memberRecord(books, member, now))
          .filter((one) => (filter.organizationId ?? one.organizationId) === one.organizationId)
          .filter((one) => isMatch(filter, one))
      )

    const matchingKeys = ({ organizationId, memberId, name, revoked }: KeyFilter) =>
      [...apiKeys.values()]
        .map(keyRecord)
        .filter((key) => organizationId === null || key.organizationId === organizationId)
        .filter((key) => memberId === null || key.memberId === memberId)
        .filter((key) => hasPrefix(name, key))
        .filter(({ revokedAt }) => revoked === null || (revokedAt !== null) === revoked)

    const findOrganization = (id: string) =>
      Effect.suspend(() => orNotFound(organizations.get(id), "organisation"))
    const findMember = (id: string) =>
      Effect.suspend(() => {
        const match = allMembers().find(({ member }) => member.id === id)
        return orNotFound(match, "member")
      })
    const findKey = (id: string) => Effect.suspend(() => orNotFound(apiKeys.get(id), "key"))

    const write = (change: (now: Date) => void) =>
      Effect.orDie(
        changes.changeAndNotify(
          "keys",
          Effect.map(Clock.currentTimeMillis, (now) => change(new Date(now)))
        )
      )

    return Accounts.of({
      organizations: Effect.fn("Accounts.organizations")((filter, page) =>
        Effect.suspend(() => pageOf(matchingOrganizations(filter), page))
      ),
      organizationTotals: Effect.fn("Accounts.organizationTotals")((filter) =>
        Effect.sync(() => {
          const matches = matchingOrganizations(filter)
          return {
            count: matches.length,
            balanceNano: sum(matches, ({ balanceNano }) => balanceNano),
            heldNano: sum(matches, ({ heldNano }) => heldNano)
          }
        })
      ),
      organization: Effect.fn("Accounts.organization")((id) =>
        Effect.map(findOrganization(id), organizationRecord)
      ),
      changeOrganization: Effect.fn("Accounts.changeOrganization")(function* (id, change) {
        const { name, enabled, creditNano, holdsOnCredit, watermark } = change
        const books = yield* findOrganization(id)
        yield* write((now) => {
          setCredit(books.pool, creditNano, holdsOnCredit)
          books.name = name ?? books.name
          books.watermark = valueAfter(books.watermark, watermark)
          books.disabledAt = disabledAtAfter(books.disabledAt, enabled, now)
        })
        return organizationRecord(books)
      }),
      setPriceList: Effect.fn("Accounts.setPriceList")(function* (id, priceListId) {
        const books = yield* findOrganization(id)
        const lists = [...store.priceLists.values()].flatMap(({ list, removedAt }) =>
          removedAt === null ? [list] : []
        )
        if (priceListId !== null && !lists.some((list) => list.id === priceListId)) {
          return yield* unknownPriceList(priceListId, lists)
        }
        yield* write(() => {
          books.priceListId = priceListId
        })
      }),
      members: Effect.fn("Accounts.members")(function* (filter, page) {
        return yield* pageOf(yield* matchingMembers(filter), page)
      }),
      memberTotals: Effect.fn("Accounts.memberTotals")((filter) =>
        Effect.map(matchingMembers(filter), (matches) => ({
          count: matches.length,
          capturedNano: sum(matches, ({ capturedNano }) => capturedNano),
          heldNano: sum(matches, ({ heldNano }) => heldNano)
        }))
      ),
      member: Effect.fn("Accounts.member")(function* (id) {
        const { books, member } = yield* findMember(id)
        return memberRecord(books, member, yield* Clock.currentTimeMillis)
      }),
      changeMember: Effect.fn("Accounts.changeMember")(function* (id, change) {
        const { name, enabled, monthlyCapNano } = change
        const { books, member } = yield* findMember(id)
        const capId = budgetPrefix + (yield* random.uuidV7())
        yield* write((now) => {
          member.name = name ?? member.name
          member.disabledAt = disabledAtAfter(member.disabledAt, enabled, now)
          if (monthlyCapNano === undefined) return
          const cap = { id: capId, memberId: id, amountNano: monthlyCapNano }
          setCap(store, books, cap, { nowMillis: now.getTime(), timeZone })
        })
        return memberRecord(books, member, yield* Clock.currentTimeMillis)
      }),
      keys: Effect.fn("Accounts.keys")((filter, page) =>
        Effect.suspend(() => pageOf(matchingKeys(filter), page))
      ),
      keyTotals: Effect.fn("Accounts.keyTotals")((filter) =>
        Effect.sync(() => ({ count: matchingKeys(filter).length }))
      ),
      key: Effect.fn("Accounts.key")((id) => Effect.map(findKey(id), keyRecord)),
      changeKey: Effect.fn("Accounts.changeKey")(function* (id, change) {
        const key = yield* findKey(id)
        yield* write(() => {
          const { options } = key
          key.options = {
            name: change.name ?? options.name,
            scopes: change.scopes ?? options.scopes,
            models: valueAfter(options.models, change.models),
            expiresAt: valueAfter(options.expiresAt, change.expiresAt),
            requestsPerMinute: valueAfter(
              options.requestsPerMinute ?? null,
              change.requestsPerMinute
            )
          }
        })
        return keyRecord(key)
      })
    })
  })
)
