/** What every store of organisations, members and keys must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Access, allScopes, type NewKey } from "../../src/services/Access.ts"
import { formatToken, TOKEN_BYTES } from "../../src/services/bearerTokens.ts"
import { Budgets } from "../../src/services/money/Budgets.ts"
import type { Stores } from "../support/ledger.ts"

const plain: NewKey = { name: "test", scopes: allScopes, models: null, expiresAt: null }

const randomKey = Effect.flatMap(SecureRandom.SecureRandom, (random) =>
  Effect.map(random.randomBytes(TOKEN_BYTES), (bytes) => formatToken("mg_", bytes))
)

const member = Effect.gen(function* () {
  const access = yield* Access
  const organizationId = yield* access.createOrganization("Test")
  const memberId = yield* access.createMember(organizationId, { name: "m", monthlyCapNano: null })
  return { organizationId, memberId }
})

export const accessSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("a key lets its member in with its scopes and models, and no other text does", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const owner = yield* member
      const wide = yield* access.createKey(owner.memberId, plain)
      const narrow = yield* access.createKey(owner.memberId, {
        ...plain,
        scopes: ["videos"],
        models: ["film-1"],
        requestsPerMinute: 7
      })
      assert.deepInclude(yield* access.authenticate(wide.key), {
        ...owner,
        keyId: wide.id,
        scopes: new Set(allScopes),
        models: null,
        requestsPerMinute: null
      })
      assert.deepInclude(yield* access.authenticate(narrow.key), {
        keyId: narrow.id,
        scopes: new Set(["videos" as const]),
        models: new Set(["film-1"]),
        requestsPerMinute: 7
      })
      const strange = [yield* randomKey, Redacted.make(""), Redacted.make("mg_x")]
      for (const key of strange) {
        assert.strictEqual((yield* Effect.flip(access.authenticate(key)))._tag, "invalid_api_key")
      }
    })
  )

  it.effect("a revoked key and one past its time let nobody in", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { memberId } = yield* member
      const revoked = yield* access.createKey(memberId, plain)
      yield* access.authenticate(revoked.key)
      for (const _ of ["once", "twice"]) yield* access.revokeKey(revoked.id)
      const expired = yield* access.createKey(memberId, { ...plain, expiresAt: new Date(1000) })
      const valid = { ...plain, expiresAt: new Date("2400-01-01") }
      yield* access.authenticate((yield* access.createKey(memberId, valid)).key)
      for (const { key } of [revoked, expired]) {
        assert.strictEqual((yield* Effect.flip(access.authenticate(key)))._tag, "invalid_api_key")
      }
    })
  )

  it.effect("the holder of a key is found by the key's id, as by the key itself", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { memberId, organizationId } = yield* member
      const { id, key } = yield* access.createKey(memberId, plain)
      assert.deepStrictEqual(
        yield* access.callerOf(organizationId, id),
        yield* access.authenticate(key)
      )
      const revoked = yield* access.createKey(memberId, plain)
      yield* access.revokeKey(revoked.id)
      const expired = yield* access.createKey(memberId, { ...plain, expiresAt: new Date(1000) })
      for (const [organization, keyId] of [
        ["org_another", id],
        [organizationId, "key_nobody"],
        [organizationId, revoked.id],
        [organizationId, expired.id]
      ] as const) {
        const refusal = yield* Effect.flip(access.callerOf(organization, keyId))
        assert.strictEqual(refusal._tag, "invalid_api_key")
      }
    })
  )

  it.effect("tells whether a key has a budget of its own, also one created with it", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const budgets = yield* Budgets
      const owner = yield* member
      const terms = { period: "total", amountNano: 10n, thresholds: [100] } as const
      const created = yield* access.createKey(owner.memberId, { ...plain, budget: terms })
      const { id, budgetId, key, organizationId } = created
      const hasBudget = Effect.map(access.authenticate(key), (caller) => caller.hasBudget)
      assert.strictEqual(organizationId, owner.organizationId)
      assert.isTrue(yield* hasBudget)
      const ofKey = { scope: "key", subjectId: id } as const
      assert.deepInclude(yield* budgets.find(organizationId, budgetId ?? ""), {
        ...ofKey,
        ...terms
      })
      yield* budgets.remove(organizationId, budgetId ?? "")
      assert.isFalse(yield* hasBudget)
      const ofMember = { scope: "member", subjectId: owner.memberId } as const
      yield* budgets.create({ organizationId, ...ofMember, ...terms })
      assert.isFalse(yield* hasBudget)
      yield* budgets.create({ organizationId, ...ofKey, ...terms, period: "day" })
      yield* budgets.create({ organizationId, ...ofKey, ...terms, period: "month" })
      assert.isTrue(yield* hasBudget)
    })
  )

  it.effect("a guard may refuse the look-up of a key, and not one that is known", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { memberId } = yield* member
      const refuse = () => Effect.fail("refused")
      const unknown = yield* randomKey
      assert.strictEqual(yield* Effect.flip(access.authenticate(unknown, refuse)), "refused")
      const { id, key } = yield* access.createKey(memberId, plain)
      yield* access.authenticate(key)
      assert.deepInclude(yield* access.authenticate(key, refuse), { keyId: id })
      const malformed = Redacted.make("mg_x")
      for (const guarded of [malformed, unknown]) {
        yield* Effect.flip(access.authenticate(guarded))
      }
      assert.deepInclude(yield* Effect.flip(access.authenticate(malformed, refuse)), {
        _tag: "invalid_api_key"
      })
    })
  )

  it.effect("nothing is made for who is not there", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { organizationId } = yield* member
      assert.isFalse(yield* access.isEmpty)
      assert.deepStrictEqual(yield* access.organization(organizationId), {
        id: organizationId,
        name: "Test"
      })
      const strangers: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        access.organization("org_nobody"),
        access.createMember("org_nobody", { name: "m", monthlyCapNano: null }),
        access.createKey("mem_nobody", plain),
        access.revokeKey("key_nobody")
      ]
      for (const stranger of strangers) {
        assert.strictEqual((yield* Effect.flip(stranger))._tag, "not_found")
      }
    })
  )
}
