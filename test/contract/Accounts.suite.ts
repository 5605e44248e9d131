/** What every store of organisations, members and keys must let operators see and change. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { InvalidRequest, NotFound } from "../../src/domain/Errors.ts"
import { Access, allScopes, type NewKey } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import {
  Accounts,
  type KeyFilter,
  type MemberFilter,
  type OrganizationFilter
} from "../../src/services/operators/Accounts.ts"
import { anyKey, anyMember, anyOrganization } from "../support/filters.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"

const plain: NewKey = { name: "test", scopes: allScopes, models: null, expiresAt: null }

const idsOf = ({ data }: { readonly data: ReadonlyArray<{ readonly id: string }> }) =>
  data.map(({ id }) => id)

export const accountsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("lists are newest first, page by page, of one organisation or of all", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const other = yield* organization(0n)
      const { organizationId, memberIds } = yield* organization(7n, 3)
      const ids = memberIds.toReversed()
      const first = yield* accounts.members(
        { ...anyMember, organizationId },
        { after: null, limit: 2 }
      )
      assert.isTrue(first.hasMore)
      const after = first.data.at(-1)?.id ?? null
      const rest = yield* accounts.members({ ...anyMember, organizationId }, { after, limit: 2 })
      assert.isFalse(rest.hasMore)
      assert.deepStrictEqual(
        [...first.data, ...rest.data].map(({ id }) => id),
        ids
      )
      const all = yield* accounts.members(anyMember, { after: null, limit: 4 })
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
          accounts.keys({ ...anyKey, organizationId, memberId }, { after: null, limit: 9 }),
          ({ data }) => data.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* listed(null), keys)
      assert.deepStrictEqual(yield* listed(memberIds[0] ?? ""), keys.slice(-1))

      const newest = yield* accounts.organizations(anyOrganization, { after: null, limit: 1 })
      assert.deepInclude(newest.data[0], { id: organizationId, balanceNano: 7n, heldNano: 0n })
      const wrongs: ReadonlyArray<Effect.Effect<unknown, InvalidRequest>> = [
        accounts.organizations(anyOrganization, { after: "org_nobody", limit: 1 }),
        accounts.members(
          { ...anyMember, organizationId },
          { after: other.memberIds[0] ?? "", limit: 1 }
        ),
        accounts.keys({ ...anyKey, organizationId }, { after: "key_nobody", limit: 1 })
      ]
      for (const wrong of wrongs) {
        assert.strictEqual((yield* Effect.flip(wrong)).param, "after")
      }
    })
  )

  it.effect("lists and their totals are of what filters leave", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const ledger = yield* Ledger
      const page = { after: null, limit: 9 }
      const { organizationId, memberIds, hold, close } = yield* organization(100n, 3)
      const [ann = "", bob = "", cy = ""] = memberIds
      for (const [id, name] of [
        [ann, "Ann 50%"],
        [bob, "anna"],
        [cy, "Bob"]
      ] as const) {
        yield* accounts.changeMember(id, { name, enabled: id !== bob })
      }
      yield* accounts.changeOrganization(organizationId, { name: "Über_Film", enabled: false })
      const other = yield* organization(5n)
      yield* accounts.changeOrganization(other.organizationId, { name: "ÜberXfilm" })
      const charged = hold(7n, { memberId: ann })
      yield* ledger.hold(charged)
      yield* ledger.capture({ ...close(charged.id), chargeNano: 7n, usage: usageOf(7n) })
      yield* ledger.hold(hold(11n, { memberId: cy }))

      const organizations = (filter: Partial<OrganizationFilter>) =>
        Effect.all([
          Effect.map(accounts.organizations({ ...anyOrganization, ...filter }, page), idsOf),
          accounts.organizationTotals({ ...anyOrganization, ...filter })
        ])
      assert.deepStrictEqual(yield* organizations({ name: "Über_f" }), [
        [organizationId],
        { count: 1, balanceNano: 93n, heldNano: 11n }
      ])
      assert.deepStrictEqual(yield* organizations({ name: "Über", enabled: true }), [
        [other.organizationId],
        { count: 1, balanceNano: 5n, heldNano: 0n }
      ])
      assert.deepStrictEqual(yield* organizations({ name: "Über" }), [
        [other.organizationId, organizationId],
        { count: 2, balanceNano: 98n, heldNano: 11n }
      ])
      assert.deepStrictEqual((yield* organizations({ enabled: false }))[0][0], organizationId)
      yield* ledger.setLowBalance(other.organizationId, 6n)
      yield* ledger.setLowBalance(organizationId, 93n)
      assert.deepStrictEqual(yield* organizations({ name: "Über", hasLowBalance: true }), [
        [other.organizationId],
        { count: 1, balanceNano: 5n, heldNano: 0n }
      ])
      assert.deepStrictEqual((yield* organizations({ name: "Über", hasLowBalance: false }))[0], [
        organizationId
      ])
      assert.deepStrictEqual(yield* organizations({ name: "%" }), [
        [],
        { count: 0, balanceNano: 0n, heldNano: 0n }
      ])

      const members = (filter: Partial<MemberFilter>) => {
        const own = { ...anyMember, organizationId, ...filter }
        return Effect.all([
          Effect.map(accounts.members(own, page), idsOf),
          accounts.memberTotals(own)
        ])
      }
      assert.deepStrictEqual(yield* members({}), [
        [cy, bob, ann],
        { count: 3, capturedNano: 7n, heldNano: 11n }
      ])
      assert.deepStrictEqual(yield* members({ name: "ANN" }), [
        [bob, ann],
        { count: 2, capturedNano: 7n, heldNano: 0n }
      ])
      assert.deepStrictEqual((yield* members({ name: "Ann 50%" }))[0], [ann])
      assert.deepStrictEqual((yield* members({ enabled: false }))[0], [bob])
      assert.deepStrictEqual((yield* members({ enabled: true }))[0], [cy, ann])

      const first = yield* access.createKey(ann, plain)
      const second = yield* access.createKey(ann, { ...plain, name: "Laptop" })
      yield* access.revokeKey(first.id)
      const keys = (filter: Partial<KeyFilter>) => {
        const own = { ...anyKey, organizationId, memberId: ann, ...filter }
        return Effect.all([
          Effect.map(accounts.keys(own, page), idsOf),
          Effect.map(accounts.keyTotals(own), ({ count }) => count)
        ])
      }
      assert.deepStrictEqual(yield* keys({}), [[second.id, first.id], 2])
      assert.deepStrictEqual(yield* keys({ revoked: true }), [[first.id], 1])
      assert.deepStrictEqual(yield* keys({ revoked: false }), [[second.id], 1])
      assert.deepStrictEqual(yield* keys({ name: "lap" }), [[second.id], 1])
      assert.deepStrictEqual(yield* keys({ name: "lap", revoked: true }), [[], 0])
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

  it.effect("an organisation's mark is told with its keys, until it is the gateway's again", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const { organizationId, memberIds } = yield* organization(0n)
      const { key } = yield* access.createKey(memberIds[0] ?? "", plain)
      const mark = Effect.map(access.authenticate(key), ({ watermark }) => watermark ?? null)
      assert.isNull(yield* mark)
      for (const watermark of [true, false, null]) {
        const changed = yield* accounts.changeOrganization(organizationId, { watermark })
        assert.strictEqual(changed.watermark, watermark)
        assert.strictEqual(yield* mark, watermark)
      }
      yield* accounts.changeOrganization(organizationId, { watermark: true })
      const renamed = yield* accounts.changeOrganization(organizationId, { name: "Marked" })
      assert.deepInclude(renamed, { name: "Marked", watermark: true })
    })
  )

  it.effect("what is disabled is told with its keys until it is enabled", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const accounts = yield* Accounts
      const { organizationId, memberIds } = yield* organization(0n)
      const [memberId = ""] = memberIds
      const { key } = yield* access.createKey(memberId, plain)
      const disabled = Effect.gen(function* () {
        const caller = yield* access.authenticate(key)
        const standing = yield* access.ownerState(caller.organizationId, caller.memberId)
        assert.strictEqual(standing, caller.disabledOwner)
        return standing
      })
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
