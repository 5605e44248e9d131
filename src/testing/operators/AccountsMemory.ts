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
import { type Books, MemoryStore, monthKey, pageOf } from "../memory/MemoryStore.ts"
import { monthAt } from "../memory/movements.ts"
import { capOf, setCap } from "../money/countedBudgets.ts"
import type { StoredApiKey, StoredMember } from "./storedAccounts.ts"

const organizationRecord = ({
  id,
  name,
  pool,
  createdAt,
  disabledAt
}: Books): OrganizationRecord => {
  const { balanceNano, heldNano, uncoveredNano, creditNano, lowNano, stoppedReason } = pool
  return {
    ...{ id, name, balanceNano, heldNano, uncoveredNano, creditNano, lowNano, stoppedReason },
    ...{ createdAt, disabledAt }
  }
}

const keyRecord = ({ id, organizationId, memberId, options, ...at }: StoredApiKey): KeyRecord => ({
  ...{ id, organizationId, memberId, name: options.name, scopes: options.scopes },
  ...{ models: options.models, requestsPerMinute: options.requestsPerMinute ?? null },
  ...{ createdAt: at.createdAt, expiresAt: options.expiresAt, revokedAt: at.revokedAt }
})

/** What a change leaves out stays. */
const disabledAfter = (
  before: Date | null,
  enabled: boolean | undefined,
  now: Date
): Date | null => (enabled === undefined ? before : enabled ? null : (before ?? now))

const begins = (beginning: string | null, { name }: { readonly name: string }): boolean =>
  beginning === null || name.toLowerCase().startsWith(beginning.toLowerCase())

const isOf = (
  { name, enabled }: OrganizationFilter,
  account: { readonly name: string; readonly disabledAt: Date | null }
): boolean =>
  begins(name, account) && (enabled === null || (account.disabledAt === null) === enabled)

const sum = <A>(entries: ReadonlyArray<A>, amountOf: (entry: A) => bigint): bigint =>
  entries.reduce((total, entry) => total + amountOf(entry), 0n)

const found = <A>(entry: A | undefined, what: string) =>
  entry === undefined
    ? Effect.fail(new NotFound({ message: `No such ${what}` }))
    : Effect.succeed(entry)

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
        ...{ id: member.id, organizationId: books.id, name: member.name },
        ...{
          capNano: capOf(books, member.id)?.amountNano ?? null,
          capturedNano: month?.capturedNano ?? 0n
        },
        ...{ heldNano: month?.heldNano ?? 0n, createdAt: member.createdAt },
        disabledAt: member.disabledAt
      }
    }

    /** Every member with its organisation, the oldest first, as their ids tell. */
    const allMembers = () =>
      [...organizations.values()]
        .flatMap((books) => [...books.members.values()].map((member) => ({ books, member })))
        .toSorted((one, other) => (one.member.id < other.member.id ? -1 : 1))

    const organizationsOf = (filter: OrganizationFilter) =>
      [...organizations.values()].map(organizationRecord).filter((one) => isOf(filter, one))

    const membersOf = (filter: MemberFilter) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        allMembers()
          .map(({ books, member }) => memberRecord(books, member, now))
          .filter((one) => (filter.organizationId ?? one.organizationId) === one.organizationId)
          .filter((one) => isOf(filter, one))
      )

    const keysOf = ({ organizationId, memberId, name, revoked }: KeyFilter) =>
      [...apiKeys.values()]
        .map(keyRecord)
        .filter((key) => organizationId === null || key.organizationId === organizationId)
        .filter((key) => memberId === null || key.memberId === memberId)
        .filter((key) => begins(name, key))
        .filter(({ revokedAt }) => revoked === null || (revokedAt !== null) === revoked)

    const memberOf = (id: string) =>
      Effect.suspend(() =>
        found(
          allMembers().find(({ member }) => member.id === id),
          "member"
        )
      )

    const write = (change: (now: Date) => void) =>
      Effect.orDie(
        changes.changeAndNotify(
          "keys",
          Effect.map(Clock.currentTimeMillis, (now) => change(new Date(now)))
        )
      )

    return Accounts.of({
      organizations: Effect.fn("Accounts.organizations")((filter, page) =>
        Effect.suspend(() => pageOf(organizationsOf(filter), page))
      ),
      organizationTotals: Effect.fn("Accounts.organizationTotals")((filter) =>
        Effect.sync(() => {
          const own = organizationsOf(filter)
          return {
            count: own.length,
            balanceNano: sum(own, ({ balanceNano }) => balanceNano),
            heldNano: sum(own, ({ heldNano }) => heldNano)
          }
        })
      ),
      organization: Effect.fn("Accounts.organization")((id) =>
        Effect.map(
          Effect.suspend(() => found(organizations.get(id), "organisation")),
          organizationRecord
        )
      ),
      changeOrganization: Effect.fn("Accounts.changeOrganization")(function* (
        id,
        { name, enabled, creditNano }
      ) {
        const books = yield* found(organizations.get(id), "organisation")
        yield* write((now) => {
          books.pool.creditNano = creditNano ?? books.pool.creditNano
          books.name = name ?? books.name
          books.disabledAt = disabledAfter(books.disabledAt, enabled, now)
        })
        return organizationRecord(books)
      }),
      members: Effect.fn("Accounts.members")(function* (filter, page) {
        return yield* pageOf(yield* membersOf(filter), page)
      }),
      memberTotals: Effect.fn("Accounts.memberTotals")((filter) =>
        Effect.map(membersOf(filter), (own) => ({
          count: own.length,
          capturedNano: sum(own, ({ capturedNano }) => capturedNano),
          heldNano: sum(own, ({ heldNano }) => heldNano)
        }))
      ),
      member: Effect.fn("Accounts.member")(function* (id) {
        const { books, member } = yield* memberOf(id)
        return memberRecord(books, member, yield* Clock.currentTimeMillis)
      }),
      changeMember: Effect.fn("Accounts.changeMember")(function* (
        id,
        { name, enabled, monthlyCapNano }
      ) {
        const { books, member } = yield* memberOf(id)
        const capId = budgetPrefix + (yield* random.uuidV7())
        yield* write((now) => {
          member.name = name ?? member.name
          member.disabledAt = disabledAfter(member.disabledAt, enabled, now)
          if (monthlyCapNano === undefined) return
          const cap = { id: capId, memberId: id, amountNano: monthlyCapNano }
          setCap(store, books, cap, { nowMillis: now.getTime(), timeZone })
        })
        return memberRecord(books, member, yield* Clock.currentTimeMillis)
      }),
      keys: Effect.fn("Accounts.keys")((filter, page) =>
        Effect.suspend(() => pageOf(keysOf(filter), page))
      ),
      keyTotals: Effect.fn("Accounts.keyTotals")((filter) =>
        Effect.sync(() => ({ count: keysOf(filter).length }))
      ),
      key: Effect.fn("Accounts.key")((id) =>
        Effect.map(
          Effect.suspend(() => found(apiKeys.get(id), "key")),
          keyRecord
        )
      ),
      changeKey: Effect.fn("Accounts.changeKey")(function* (id, change) {
        const key = yield* found(apiKeys.get(id), "key")
        yield* write(() => {
          key.options = { ...key.options, ...change }
        })
        return keyRecord(key)
      })
    })
  })
)
