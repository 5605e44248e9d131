import { hash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditView, OrphanView } from "../../src/features/history/HistoryApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"
import { orderImages, orderVideo } from "../support/orders.ts"

const Orphans = list(OrphanView)
const Audit = list(AuditView)

const orphansAt = Effect.fnUntraced(function* (query: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(Orphans, yield* gateway.admin(`/orphans${query}`))
})

const auditAt = Effect.fnUntraced(function* (query = "?limit=100") {
  const gateway = yield* Gateway
  return yield* bodyAs(Audit, yield* gateway.admin(`/audit${query}`))
})

/** Leaves `count` orphans of images behind, the newest last. */
const loseImages = Effect.fnUntraced(function* (count: number, reply: Reply = "reset") {
  const gateway = yield* Gateway
  const vendor = yield* brokenVendor(reply)
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
  const who = yield* gateway.customer("10")
  for (let n = 0; n < count; n += 1) {
    assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 502)
  }
  yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
  return who
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `orphans and audit (${kind})`,
    (it) => {
      it.effect("orphans are listed newest first, in pages, until they are seen to", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* loseImages(5)
          const whole = yield* orphansAt("")
          assert.deepStrictEqual(
            whole.data.map(({ id }) => id),
            whole.data
              .map(({ id }) => id)
              .toSorted()
              .toReversed()
          )
          assert.strictEqual(whole.data.length, 5)
          assert.deepInclude(whole.data[0], {
            organization_id: who.organizationId,
            channel: "ch-i",
            protocol: "ip_a",
            upstream_model: "vendor-paint-1",
            upstream_id: null,
            reason: "connection_lost",
            answer: null,
            amount_held: "0.2",
            resolved_at: null,
            note: null
          })
          const first = yield* orphansAt("?limit=2")
          assert.isTrue(first.has_more)
          const rest = yield* orphansAt(`?limit=3&after=${first.data[1]?.id}`)
          assert.isFalse(rest.has_more)
          assert.deepStrictEqual([...first.data, ...rest.data], [...whole.data])

          const id = whole.data[1]?.id ?? ""
          const path = `/orphans/${id}/resolve`
          const done = yield* bodyAs(
            OrphanView,
            yield* gateway.admin(path, { json: { note: "the vendor has no such job" } })
          )
          assert.strictEqual(done.note, "the vendor has no such job")
          assert.isNotNull(done.resolved_at)
          const again = yield* bodyAs(
            OrphanView,
            yield* gateway.admin(path, { json: { note: "the vendor has no such job" } })
          )
          assert.deepStrictEqual(again, done)
          assert.deepStrictEqual((yield* orphansAt("?resolved=true")).data, [done])
          assert.deepStrictEqual(
            (yield* orphansAt("?resolved=false")).data,
            whole.data.filter((orphan) => orphan.id !== id)
          )
          // A page goes on behind an orphan that was seen to in between.
          const behind = yield* orphansAt(`?limit=3&after=${id}`)
          assert.deepStrictEqual(behind.data, whole.data.slice(2))
          const timeline = yield* gateway.admin(`/tasks/${id}`)
          assert.deepNestedInclude(timeline.body, { orphan: done })
        })
      )

      it.effect(
        "an orphan tells of the answer that could not be used, by which it is claimed",
        () =>
          Effect.gen(function* () {
            const body = `{"task_id":"job-7","pictures":["https://files.test/1.png"]}`
            const headers = { "content-type": "application/json", "x-request-id": "vendor-7" }
            const who = yield* loseImages(1, { headers, body })
            const [orphan] = (yield* orphansAt("")).data
            assert.deepInclude(orphan, {
              organization_id: who.organizationId,
              upstream_id: "job-7",
              reason: "unread_answer",
              amount_held: "0.2",
              charge: "0.2",
              answer: {
                status: 200,
                bytes: body.length,
                sha256: hash("sha256", body),
                request_id: "vendor-7"
              }
            })
          })
      )

      it.effect("an unknown orphan, cursor, filter or note is refused", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const unknown = "im_01890a5d-ac96-774b-bcce-b302099a8057"
          for (const id of [unknown, "x", "%00"]) {
            const answer = yield* gateway.admin(`/orphans/${id}/resolve`, { json: { note: "x" } })
            assert.strictEqual(answer.status, 404, id)
            assert.deepNestedInclude(answer.body, { "error.code": "not_found" })
          }
          const refused: ReadonlyArray<readonly [string, object, string]> = [
            [`/orphans/${unknown}/resolve`, { json: {} }, "note"],
            [`/orphans/${unknown}/resolve`, { json: { note: "" } }, "note"],
            [`/orphans/${unknown}/resolve`, { json: { note: "x", more: 1 } }, "more"],
            [`/orphans?after=${unknown}`, {}, "after"],
            ["/orphans?resolved=maybe", {}, "resolved"],
            ["/orphans?limit=0", {}, "limit"],
            ["/audit?after=au_x", {}, "after"]
          ]
          for (const [path, options, param] of refused) {
            const answer = yield* gateway.admin(path, options)
            assert.strictEqual(answer.status, 400, answer.text)
            assert.deepNestedInclude(answer.body, { "error.param": param }, answer.text)
          }
        })
      )

      it.effect("every administrative write is audited, done or refused, and no read is", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const before = (yield* auditAt("?limit=1")).data[0]?.id
          const who = yield* gateway.customer("12.5")
          yield* gateway.admin(`/organizations/${who.organizationId}`)
          const expired = yield* gateway.admin(`/members/${who.memberId}/keys`, {
            json: { name: "k", expires_at: "yesterday" }
          })
          assert.strictEqual(expired.status, 400)
          const revoked = yield* gateway.admin("/keys/key_nobody", { method: "DELETE" })
          assert.strictEqual(revoked.status, 404)
          const typed = yield* gateway.admin("/organizations", {
            body: "name=x",
            headers: { "content-type": "text/plain" }
          })
          assert.strictEqual(typed.status, 415)
          yield* gateway.admin("/organizations", { body: "{" })

          const entries = (yield* auditAt()).data
          const fresh = entries.slice(
            0,
            entries.findIndex(({ id }) => id === before)
          )
          const reference = /[0-9a-f-]{36}/.exec(JSON.stringify(fresh[6]?.fields))?.[0]
          assert.deepStrictEqual(
            fresh.map(({ action, subject_id, fields, status }) => [
              status,
              action,
              subject_id,
              fields
            ]),
            [
              [400, "createOrganization", null, null],
              [415, "createOrganization", null, null],
              [404, "revokeKey", "key_nobody", null],
              [400, "createKey", who.memberId, { name: "k", expires_at: "yesterday" }],
              [200, "createKey", who.memberId, { name: "test" }],
              [200, "createMember", who.organizationId, { name: "tester", monthly_cap: null }],
              [200, "deposit", who.organizationId, { amount: "12.5", reference }],
              [200, "createOrganization", who.organizationId, { name: "Test" }]
            ]
          )
          assert.strictEqual(fresh[3]?.request_id, expired.headers.get("x-request-id"))
          assert.isTrue(fresh.every(({ at }) => !Number.isNaN(Date.parse(at))))
          const page = yield* auditAt("?limit=2")
          const next = yield* auditAt(`?limit=2&after=${page.data[1]?.id}`)
          assert.deepStrictEqual([...page.data, ...next.data], entries.slice(0, 4))
        })
      )

      it.effect("the audit keeps no secret, also under a name nobody knows", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("0")
          const catalog = testCatalog(gateway.simulator.url)
          yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
          yield* gateway.admin("/catalog", {
            method: "PUT",
            json: { ...catalog, api_kye: "secret-one", api_key: "secret-two" }
          })
          const stranger = yield* gateway.admin("/organizations", {
            key: "not the token",
            json: { name: "stranger" }
          })
          assert.strictEqual(stranger.status, 401)
          const { text } = yield* gateway.admin("/audit?limit=100")
          for (const secret of [
            "vendor-key-a",
            "secret-one",
            "secret-two",
            "api_kye",
            "stranger",
            who.key,
            ADMIN_TOKEN
          ]) {
            assert.notInclude(text, secret)
          }
          const [refused, replaced] = (yield* auditAt()).data
          assert.deepInclude(refused, { action: "replaceCatalog", status: 400 })
          assert.deepStrictEqual(replaced?.fields, {
            channels: `[${catalog.channels.length} items]`,
            models: `[${catalog.models.length} items]`,
            mounts: `[${catalog.mounts.length} items]`
          })
        })
      )

      it.effect("an order of a client is no administrative write", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          const before = (yield* auditAt("?limit=1")).data
          yield* orderVideo(who, { model: "film-1" })
          assert.deepStrictEqual((yield* auditAt("?limit=1")).data, before)
          yield* gateway.verify
        })
      )
    }
  )
}
