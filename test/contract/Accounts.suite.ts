/** What every store of organisations, members and keys must let operators see and change. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { InvalidRequest, NotFound } from "../../src/domain/Errors.ts"
import { Access, allScopes, type NewKey } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"

const plain: NewKey = { name: "test", scopes: allScopes, models: null, expiresAt: null }

export const accountsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("lists are newest first, page by page, of one organisation or of all", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const other = yield* organization(0n)
      const { organizationId, memberIds } = yield* organization(7n, 3)
      const ids = memberIds.toReversed()
      const first = yield* accounts.members({ organizationId }, { after: null, limit: 2 })
      assert.isTrue(first.hasMore)
      const after = first.data.at(-1)?.id ?? null
      const rest = yield* accounts.members({ organizationId }, { after, limit: 2 })
      assert.isFalse(rest.hasMore)
      assert.deepStrictEqual(
        [...first.data, ...rest.data].map(({ id }) => id),
        ids
      )
      const all = yield* accounts.members({ organizationId: null }, { after: null, limit: 4 })
      assert.deepStrictEqual(
        all.data.map(({ id }) => id),
        [...ids, other.memberIds[0]]
      )
      const keys: Array<string> = []
      for (const memberId of memberIds) {
        keys.unshift((yield* access.createKey(memberId, plain)).id)
      }
      const listed = (memberId: string | null) =>
        Effect.map(
          accounts.keys({ organizationId, memberId }, { after: null, limit: 9 }),
          ({ data }) => data.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* listed(null), keys)
      assert.deepStrictEqual(yield* listed(memberIds[0] ?? ""), keys.slice(-1))

      const newest = yield* accounts.organizations({ after: null, limit: 1 })
      assert.deepInclude(newest.data[0], { id: organizationId, balanceNano: 7n, heldNano: 0n })
      const wrongs: ReadonlyArray<Effect.Effect<unknown, InvalidRequest>> = [
        accounts.organizations({ after: "org_nobody", limit: 1 }),
        accounts.members({ organizationId }, { after: other.memberIds[0] ?? "", limit: 1 }),
        accounts.keys({ organizationId, memberId: null }, { after: "key_nobody", limit: 1 })
      ]
      for (const wrong of wrongs) {
        assert.strictEqual((yield* Effect.flip(wrong)).param, "after")
      }
    })
  )

  it.effect("a changed cap is that of the next order, and what is left out stays", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const ledger = yield* Ledger
      const { memberIds, hold, close } = yield* organization(1000n)
      const [id = ""] = memberIds
      const request = hold(60n)
      yield* ledger.hold(request)
      const capped = yield* accounts.changeMember(id, { monthlyCapNano: 50n })
      assert.deepInclude(capped, { name: "member 0", capNano: 50n, heldNano: 60n })
      assert.strictEqual((yield* Effect.flip(ledger.hold(hold(1n))))._tag, "member_cap_exceeded")
      yield* ledger.capture({ ...close(request.id), chargeNano: 55n, usage: usageOf(55n) })
      const renamed = yield* accounts.changeMember(id, { name: "Ann" })
      assert.deepInclude(renamed, { name: "Ann", capNano: 50n, capturedNano: 55n, heldNano: 0n })
      yield* accounts.changeMember(id, { monthlyCapNano: null })
      yield* ledger.hold(hold(1n))
      assert.deepInclude(yield* accounts.member(id), { name: "Ann", capNano: null })
    })
  )

  it.effect("a changed key may what it may now, and nothing of it is lost", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const { memberIds } = yield* organization(0n)
      const { id, key } = yield* access.createKey(memberIds[0] ?? "", plain)
      yield* access.authenticate(key)
      const changed = yield* accounts.changeKey(id, {
        scopes: ["images"],
        models: ["paint-1"],
        requestsPerMinute: 7
      })
      assert.deepInclude(changed, { name: "test", scopes: ["images"], models: ["paint-1"] })
      assert.deepInclude(yield* access.authenticate(key), {
        scopes: new Set(["images" as const]),
        models: new Set(["paint-1"]),
        requestsPerMinute: 7
      })
      const expiresAt = new Date("2020-01-01T00:00:00Z")
      yield* accounts.changeKey(id, { models: null, requestsPerMinute: null, expiresAt })
      assert.strictEqual((yield* Effect.flip(access.authenticate(key)))._tag, "invalid_api_key")
      const again = yield* accounts.changeKey(id, { expiresAt: null, name: "laptop" })
      assert.deepInclude(again, { name: "laptop", models: null, scopes: ["images"] })
      yield* access.authenticate(key)
      yield* access.revokeKey(id)
      assert.isNotNull((yield* accounts.key(id)).revokedAt)
    })
  )

  it.effect("what is disabled is told with its keys until it is enabled", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const { organizationId, memberIds } = yield* organization(0n)
      const [memberId = ""] = memberIds
      const { key } = yield* access.createKey(memberId, plain)
      const disabled = Effect.map(access.authenticate(key), (caller) => caller.disabled)
      assert.isNull(yield* disabled)
      const off = yield* accounts.changeMember(memberId, { enabled: false })
      assert.isNotNull(off.disabledAt)
      assert.deepStrictEqual(yield* accounts.changeMember(memberId, { enabled: false }), off)
      assert.strictEqual(yield* disabled, "member")
      yield* accounts.changeOrganization(organizationId, { enabled: false, name: "Closed" })
      assert.strictEqual(yield* disabled, "organisation")
      yield* accounts.changeOrganization(organizationId, { enabled: true })
      yield* accounts.changeMember(memberId, { enabled: true })
      assert.isNull(yield* disabled)
      assert.deepInclude(yield* accounts.organization(organizationId), {
        name: "Closed",
        disabledAt: null
      })
      const missings: ReadonlyArray<Effect.Effect<unknown, NotFound>> = [
        accounts.organization("nobody"),
        accounts.changeOrganization("nobody", { name: "x" }),
        accounts.member("nobody"),
        accounts.changeMember("nobody", { name: "x" }),
        accounts.key("nobody"),
        accounts.changeKey("nobody", { name: "x" })
      ]
      for (const missing of missings) {
        assert.strictEqual((yield* Effect.flip(missing))._tag, "not_found")
      }
    })
  )
}
