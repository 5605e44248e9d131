/**
 * Organisations, members and keys in memory. Keys are looked up by their hash, as in PostgreSQL.
 */
import { Clock, Effect, identity, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { NotFound } from "../../domain/Errors.ts"
import { Changes } from "../../runtime/Changes.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Access, type Caller, refusedKey } from "../../services/Access.ts"
import {
  formatToken,
  isWellFormedToken,
  type LookUpGuard,
  TOKEN_BYTES,
  tokenHash
} from "../../services/bearerTokens.ts"
import { unknownOrganization } from "../../services/ledgerAnswers.ts"
import { budgetPrefix } from "../../services/money/Budgets.ts"
import { beginBudget, setCap } from "../money/countedBudgets.ts"
import type { StoredApiKey } from "../operators/storedAccounts.ts"
import { MemoryStore, makeBooks } from "./MemoryStore.ts"

const nowDate = Effect.map(Clock.currentTimeMillis, (now) => new Date(now))

export const layerAccessMemory = Layer.effect(
  Access,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const { timeZone } = yield* Settings
    const newId = (prefix: string) => Effect.map(random.uuidV7(), (uuid) => `${prefix}_${uuid}`)

    const booksOf = (id: string) =>
      Effect.suspend(() => {
        const books = store.organizations.get(id)
        return books === undefined ? Effect.fail(unknownOrganization) : Effect.succeed(books)
      })

    const ownerState = (organizationId: string, memberId: string) => {
      const books = store.organizations.get(organizationId)
      if (books !== undefined && books.disabledAt !== null) return "organisation"
      return books?.members.get(memberId)?.disabledAt === null ? null : "member"
    }

    const hasBudget = (organizationId: string, keyId: string): boolean =>
      [...(store.organizations.get(organizationId)?.budgets.values() ?? [])].some(
        ({ subjectId }) => subjectId === keyId
      )

    const holderOf = Effect.fnUntraced(function* ({
      id: keyId,
      organizationId,
      memberId,
      options
    }: StoredApiKey) {
      const { expiresAt, models, scopes, requestsPerMinute = null } = options
      const now = yield* Clock.currentTimeMillis
      if (expiresAt !== null && expiresAt.getTime() <= now) return yield* refusedKey
      return {
        disabledOwner: ownerState(organizationId, memberId),
        watermark: store.organizations.get(organizationId)?.watermark ?? null,
        priceList: store.organizations.get(organizationId)?.priceListId ?? null,
        organizationId,
        memberId,
        keyId,
        scopes: new Set(scopes),
        models: models === null ? null : new Set(models),
        requestsPerMinute,
        hasBudget: hasBudget(organizationId, keyId)
      } satisfies Caller
    })

    return Access.of({
      ownerState: (organizationId, memberId) =>
        Effect.sync(() => ownerState(organizationId, memberId)),
      authenticate: Effect.fn("Access.authenticate")(function* <E = never>(
        key: Redacted.Redacted,
        guard: LookUpGuard<E> = identity
      ) {
        if (!isWellFormedToken("mg_", key)) return yield* refusedKey
        const hash = tokenHash(key)
        const storedKey = [...store.apiKeys.values()].find((one) => one.hash === hash)
        if (storedKey === undefined || storedKey.revokedAt !== null) {
          return yield* guard(Effect.fail(refusedKey))
        }
        return yield* holderOf(storedKey)
      }),
      callerOf: Effect.fn("Access.callerOf")(function* (organizationId, keyId) {
        const storedKey = store.apiKeys.get(keyId)
        return storedKey === undefined ||
          storedKey.revokedAt !== null ||
          storedKey.organizationId !== organizationId
          ? yield* refusedKey
          : yield* holderOf(storedKey)
      }),
      createOrganization: Effect.fn("Access.createOrganization")(function* (name) {
        const id = yield* newId("org")
        store.organizations.set(id, makeBooks(id, name, yield* nowDate))
        return id
      }),
      createMember: Effect.fn("Access.createMember")(function* (
        organizationId,
        { name, monthlyCapNano }
      ) {
        const books = yield* booksOf(organizationId)
        const id = yield* newId("mem")
        const cap = { id: yield* newId("bg"), memberId: id, amountNano: monthlyCapNano }
        const nowMillis = yield* Clock.currentTimeMillis
        const createdAt = new Date(nowMillis)
        books.members.set(id, { id, name, createdAt, disabledAt: null })
        setCap(store, books, cap, { nowMillis, timeZone })
        return id
      }),
      createKey: Effect.fn("Access.createKey")(function* (memberId, { budget, ...options }) {
        const owner = [...store.organizations.values()].find(({ members }) => members.has(memberId))
        if (owner === undefined) return yield* new NotFound({ message: "No such member" })
        const id = yield* newId("key")
        const key = formatToken("mg_", yield* random.randomBytes(TOKEN_BYTES))
        const hash = tokenHash(key)
        const organizationId = owner.id
        store.apiKeys.set(id, {
          id,
          organizationId,
          memberId,
          hash,
          options,
          createdAt: yield* nowDate,
          revokedAt: null
        })
        if (budget === undefined) return { id, key, organizationId, budgetId: null }
        const budgetId = budgetPrefix + (yield* random.uuidV7())
        const nowMillis = yield* Clock.currentTimeMillis
        const ownBudget = {
          ...budget,
          id: budgetId,
          scope: "key",
          subjectId: id,
          isCap: false
        } as const
        beginBudget(store, owner, { ...ownBudget, organizationId }, { nowMillis, timeZone })
        return { id, key, organizationId, budgetId }
      }),
      revokeKey: Effect.fn("Access.revokeKey")(function* (id) {
        const key = store.apiKeys.get(id)
        if (key === undefined) return yield* new NotFound({ message: "No such key" })
        const revoke = Effect.map(nowDate, (now) => {
          key.revokedAt ??= now
        })
        yield* Effect.orDie(changes.changeAndNotify("keys", revoke))
      }),
      organization: Effect.fn("Access.organization")((id) =>
        Effect.map(booksOf(id), ({ name }) => ({ id, name }))
      ),
      isEmpty: Effect.sync(() => store.organizations.size === 0)
    })
  })
)
