/** Operators list and change organisations, members and keys. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KeyView, MemberView, OrganizationView } from "../../src/features/accounts/AccountsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo } from "../support/orders.ts"

const change = (path: string, json: object) =>
  Effect.flatMap(Gateway, (gateway) => gateway.admin(path, { method: "PATCH", json }))

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `accounts (${kind})`,
    (it) => {
      it.effect("are listed with what a page shows of them, and no key's text", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1", { monthlyCap: "0.7" })
          const paint = { model: "paint-1", prompt: "x" }
          yield* gateway.call("/v1/images/generations", { key: who.key, json: paint })
          const organizations = yield* bodyAs(
            list(OrganizationView),
            yield* gateway.admin("/organizations?limit=1")
          )
          const [organization] = organizations.data
          assert.deepInclude(organization, { id: who.organizationId, balance: "0.8", held: "0" })
          assert.deepStrictEqual(
            (yield* gateway.admin(`/organizations/${who.organizationId}`)).body,
            organization
          )
          const members = yield* bodyAs(
            list(MemberView),
            yield* gateway.admin(`/members?organization_id=${who.organizationId}`)
          )
          assert.deepStrictEqual(
            members.data.map(({ id, monthly_cap, month }) => ({ id, monthly_cap, month })),
            [{ id: who.memberId, monthly_cap: "0.7", month: { used: "0.2", held: "0" } }]
          )
          const keys = yield* gateway.admin(`/keys?member_id=${who.memberId}`)
          const [key] = (yield* bodyAs(list(KeyView), keys)).data
          assert.deepInclude(key, { member_id: who.memberId, name: "test", revoked_at: null })
          assert.notInclude(keys.text, who.key)
          for (const path of ["/organizations", "/members", "/keys"]) {
            const wrong = yield* gateway.admin(`${path}?after=nobody`)
            assert.strictEqual((yield* errorOf(wrong)).param, "after", path)
          }
        })
      )

      it.effect("a key tells whose it is and what it may do, whatever its scopes", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const some = {
            scopes: ["webhooks"],
            models: ["paint-1"],
            requests_per_minute: 60,
            expires_at: "2999-01-01T00:00:00.000Z"
          }
          const who = yield* gateway.customer("0", { key: { name: "hooks", ...some } })
          yield* change(`/organizations/${who.organizationId}`, { name: "Lighthouse" })
          const keys = yield* gateway.admin(`/keys?member_id=${who.memberId}`)
          const [key] = (yield* bodyAs(list(KeyView), keys)).data
          const answer = yield* gateway.call("/v1/me", { key: who.key })
          assert.deepStrictEqual(answer.body, {
            object: "key",
            id: key?.id,
            name: "hooks",
            currency: "CNY",
            organization_id: who.organizationId,
            organization_name: "Lighthouse",
            member_id: who.memberId,
            member_name: "tester",
            ...some
          })
          const another = yield* gateway.customer("0")
          const { text } = yield* gateway.call("/v1/me", { key: another.key })
          for (const id of [who.organizationId, who.memberId]) assert.notInclude(text, id)
        })
      )

      it.effect("of a disabled organisation or member nothing is ordered, and what runs ends", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          const id = yield* createVideo(who, { model: "film-1" })
          for (const [path, word] of [
            [`/members/${who.memberId}`, "member"],
            [`/organizations/${who.organizationId}`, "organisation"]
          ] as const) {
            const off = yield* change(path, { enabled: false })
            assert.deepInclude(off.body, { enabled: false })
            const refused = yield* gateway.call("/v1/models", { key: who.key })
            assert.strictEqual(refused.status, 403)
            assert.deepInclude(yield* errorOf(refused), {
              code: "permission_denied",
              message: `The ${word} of this key is disabled`
            })
            yield* change(path, { enabled: true })
          }
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
          yield* gateway.verify
        })
      )

      it.effect("change by field, and nonsense changes nothing", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const member = `/members/${who.memberId}`
          const capped = yield* change(member, { monthly_cap: "0.1" })
          assert.deepInclude(capped.body, { monthly_cap: "0.1", name: "tester" })
          const refused = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", prompt: "x" }
          })
          assert.strictEqual((yield* errorOf(refused)).code, "member_cap_exceeded")
          const { data } = yield* bodyAs(
            Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) }),
            yield* gateway.admin(`/keys?member_id=${who.memberId}`)
          )
          const key = `/keys/${data[0]?.id}`
          const before = yield* gateway.admin(key)
          for (const [path, json, param] of [
            [member, { monthly_cap: "-1" }, "monthly_cap"],
            [member, { enabled: "no" }, "enabled"],
            [member, { cap: "1" }, "cap"],
            [key, { scopes: [] }, "scopes"],
            [key, { scopes: ["all"] }, "scopes[0]"],
            [key, { requests_per_minute: 0 }, "requests_per_minute"],
            [key, { expires_at: "soon" }, "expires_at"],
            [`/organizations/${who.organizationId}`, { name: "" }, "name"]
          ] as const) {
            const answer = yield* change(path, json)
            assert.strictEqual(answer.status, 400, answer.text)
            assert.strictEqual((yield* errorOf(answer)).param, param)
          }
          assert.deepStrictEqual((yield* gateway.admin(key)).body, before.body)
          const narrow = yield* change(key, { scopes: ["images"], name: "narrow" })
          assert.deepInclude(narrow.body, { scopes: ["images"], name: "narrow", models: null })
          const closed = yield* gateway.call("/v1/models", { key: who.key })
          assert.strictEqual((yield* errorOf(closed)).code, "permission_denied")
        })
      )
    }
  )
}
