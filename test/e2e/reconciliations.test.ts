/** A vendor's list against the books, over HTTP: what is found, kept, exported and left behind. */
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { formatNano } from "../../src/domain/money/Money.ts"
import { AuditView } from "../../src/features/history/HistoryApi.ts"
import { ReconciliationView } from "../../src/features/reconciliations/ReconciliationsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { jobId, ordered } from "../support/ledger.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import {
  addressOf,
  chargedCall,
  entriesOf,
  kept,
  listOf,
  reconciled,
  send
} from "../support/vendorLists.ts"

const LINES = 1000
const DIFFERENT = 10
const UNLISTED = 5
const STRANGERS = 3
const ORPHANS = 2
/** Videos that the simulator makes; the other orders are booked. */
const VIDEOS = 6

const catalogFor = (url: string) => {
  const catalog = testCatalog(url)
  const cost = {
    kind: "token_video" as const,
    per_million_tokens: { base: { without_video: "30", with_video: "20" } }
  }
  return {
    ...catalog,
    mounts: catalog.mounts.map((mount) => (mount.model === "film-1" ? { ...mount, cost } : mount))
  }
}

const Timeline = Schema.Struct({ upstream_id: Schema.String })
const Cost = Schema.Tuple([Schema.Struct({ cost: Schema.BigInt })])

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`reconciliations (${kind})`, (it) => {
    it.effect(
      `of ${LINES} lines those that differ, are missing or are strangers are found exactly`,
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const ledger = yield* Ledger
          const sql = yield* SqlClient.SqlClient
          const who = yield* gateway.customer("100")
          const own: Array<readonly [id: string, costNano: bigint, orderId: string]> = []
          for (let index = 0; index < VIDEOS; index++) {
            const id = yield* createVideo(who, { model: "film-1" })
            yield* finishVideo(who, id)
            const seen = yield* bodyAs(Timeline, yield* gateway.admin(`/tasks/${id}`))
            const rows = yield* sql`SELECT cost FROM orders WHERE id = ${id}`
            const [{ cost }] = yield* Effect.orDie(Schema.decodeUnknownEffect(Cost)(rows))
            own.push([seen.upstream_id, cost, id])
          }
          const calls = LINES - STRANGERS - ORPHANS + UNLISTED - VIDEOS
          const booked = yield* Effect.forEach(
            Array.from({ length: calls }, (_, index) => ({
              channelId: "ch-a",
              requestId: `call-${index}`,
              costNano: 1_000_000_000n + BigInt(index)
            })),
            (call) =>
              Effect.map(
                chargedCall(who, call),
                (id) => [call.requestId, call.costNano, id] as const
              ),
            { concurrency: 50 }
          )
          own.push(...booked)
          // Of another channel, which the list is not of.
          yield* chargedCall(who, { channelId: "ch-d", requestId: "other", costNano: 1n })
          const { organizationId, memberId } = who
          const lost: Array<string> = []
          for (let index = 0; index < ORPHANS; index++) {
            const holdId = jobId("im")
            yield* ledger.hold({
              organizationId,
              memberId,
              ...ordered,
              id: holdId,
              amountNano: 5n,
              quote: {},
              job: { channelId: "ch-a", protocol: "ip_a", upstreamModel: "u" },
              ttlSeconds: 60,
              task: null,
              key: null
            })
            yield* ledger.release({
              organizationId,
              holdId,
              by: "sweep",
              task: null,
              answer: null,
              orphan: { reason: "connection_lost", upstreamId: `lost-${index}` },
              forgetKey: false
            })
            lost.push(holdId)
          }

          const different = new Set(own.slice(0, DIFFERENT).map(([id]) => id))
          const lines = [
            ...own
              .slice(0, -UNLISTED)
              .map(([id, cost]): readonly [string, string] => [
                id,
                formatNano(different.has(id) ? cost + 1n : cost)
              ]),
            ...lost.map((_, index) => [`lost-${index}`, "2"] as const),
            ...Array.from({ length: STRANGERS }, (_, index) => [`stranger-${index}`, "4"] as const)
          ]
          assert.lengthOf(lines, LINES)
          const made = yield* reconciled(listOf(lines.toReversed()))
          const { totals } = made
          assert.strictEqual(made.lines, LINES)
          assert.deepStrictEqual(
            Object.entries(totals).map(([name, { count }]) => [name, count]),
            [
              ["matched", LINES - DIFFERENT - STRANGERS - ORPHANS],
              ["different", DIFFERENT],
              ["missing_there", UNLISTED],
              ["missing_here", STRANGERS],
              ["orphan", ORPHANS]
            ]
          )
          const found = Effect.fnUntraced(function* (name: string) {
            const entries = yield* entriesOf(made.id, name)
            return entries.map((entry) => [entry.vendor_id, entry.order_id])
          })
          const pairs = (some: typeof own) =>
            some.map(([id, , orderId]) => [id, orderId]).toSorted()
          assert.deepStrictEqual(
            (yield* found("different")).toSorted(),
            pairs(own.slice(0, DIFFERENT))
          )
          assert.deepStrictEqual(
            (yield* found("missing_there")).toSorted(),
            pairs(own.slice(-UNLISTED))
          )
          assert.deepStrictEqual(
            (yield* found("orphan")).toSorted(),
            lost.map((orderId, index) => [`lost-${index}`, orderId])
          )
          assert.deepStrictEqual((yield* found("missing_here")).toSorted(), [
            ["stranger-0", null],
            ["stranger-1", null],
            ["stranger-2", null]
          ])
          assert.lengthOf(yield* found("matched"), totals.matched.count)
          assert.strictEqual(totals.matched.amount_here, totals.matched.amount_there)
          assert.deepInclude(totals.missing_here, { amount_here: "0", amount_there: "12" })
          assert.deepInclude(totals.orphan, { amount_here: "0", amount_there: "4" })
          assert.strictEqual(totals.matched.units_here, null)

          const exported = yield* gateway.admin(`/reconciliations/${made.id}/entries`, {
            headers: { accept: "text/csv" }
          })
          assert.match(exported.headers.get("content-type") ?? "", /^text\/csv/)
          const rows = exported.text.trim().split("\r\n")
          assert.lengthOf(rows, 1 + LINES + UNLISTED)
          assert.match(rows[0] ?? "", /^id,kind,reason,vendor_id,line/)
          const later = yield* gateway.admin(
            `/reconciliations/${made.id}/entries?kind=missing_there&after=${DIFFERENT + 1}`,
            { headers: { accept: "text/csv" } }
          )
          assert.lengthOf(later.text.trim().split("\r\n"), UNLISTED)
        }),
      60_000
    )

    it.effect("what was found is kept, listed, audited and removed", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const own = { channel: "ch-bad" }
        const first = yield* reconciled(listOf([["a", "1"]]), own)
        const second = yield* reconciled(
          listOf([
            ["a", "-1.50"],
            ["a", "2.5"]
          ]),
          own
        )
        assert.strictEqual(second.totals.missing_here.amount_there, "1")
        assert.deepInclude(second, { created_by: "GATEWAY_ADMIN_TOKEN", currency: "CNY", lines: 2 })
        const page = yield* bodyAs(
          list(ReconciliationView),
          yield* gateway.admin("/reconciliations?channel=ch-bad")
        )
        assert.deepStrictEqual(page.data, [second, first])
        const read = yield* gateway.admin(`/reconciliations/${first.id}`)
        assert.deepStrictEqual(read.body, first)
        const gone = yield* gateway.admin(`/reconciliations/${first.id}`, { method: "DELETE" })
        assert.strictEqual(gone.status, 200, gone.text)
        for (const path of ["", "/entries"]) {
          const answer = yield* gateway.admin(`/reconciliations/${first.id}${path}`)
          assert.strictEqual(answer.status, 404, path)
        }
        const { data } = yield* bodyAs(list(AuditView), yield* gateway.admin("/audit?limit=3"))
        assert.deepStrictEqual(
          data.map(({ action, subject_id, status }) => [action, subject_id, status]),
          [
            ["removeReconciliation", first.id, 200],
            ["reconcile", second.id, 200],
            ["reconcile", first.id, 200]
          ]
        )
        assert.deepInclude(data[1]?.fields, { channel: "ch-bad", id: "id", amount: "cost" })
      })
    )

    it.effect("a list that breaks off in the middle leaves nothing", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const before = yield* kept
        const { port } = new URL(gateway.url)
        const socket = connect(Number(port), "127.0.0.1")
        socket.on("error", () => undefined)
        const head = [
          `POST /admin/v1${addressOf({ channel: "ch-a", id: "id", amount: "cost" })} HTTP/1.1`,
          "host: x",
          `authorization: Bearer ${ADMIN_TOKEN}`,
          "content-type: text/csv",
          "content-length: 100000000"
        ]
        const lines = Array.from({ length: 20_000 }, (_, index) => `id-${index},1`)
        socket.write(`${[...head, "", "id,cost", ...lines].join("\r\n")}\r\n`)
        yield* kept.pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: (now) => now.lines > before.lines })
        )
        assert.strictEqual((yield* kept).hidden, before.hidden + 1)
        const shown = yield* bodyAs(
          list(ReconciliationView),
          yield* gateway.admin("/reconciliations")
        )
        assert.lengthOf(shown.data, before.shown)
        socket.destroy()
        yield* kept.pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: (now) => now.hidden === before.hidden })
        )
        assert.deepStrictEqual(yield* kept, before)
      })
    )

    it.effect("what a killed gateway left is not seen, and removed by the next list", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const before = yield* kept
        for (const [id, age] of [
          ["rc_left", "2 hours"],
          ["rc_at_work", "2 minutes"]
        ]) {
          yield* sql`
            INSERT INTO reconciliations (id, channel_id, from_at, to_at, has_amount, has_units,
                                         author, touched_at)
            VALUES (${id}, 'ch-a', now(), now(), true, false, 'x', now() - ${age}::text::interval)`
          yield* sql`
            INSERT INTO reconciliation_lines (reconciliation_id, line, vendor_id, amount)
            SELECT ${id}, n, n::text, 1 FROM generate_series(2, 2500) n`
        }
        assert.strictEqual((yield* gateway.admin("/reconciliations/rc_left")).status, 404)
        const refused = yield* send("id\n1")
        assert.strictEqual(refused.status, 400)
        assert.deepStrictEqual(yield* kept, {
          ...before,
          hidden: before.hidden + 1,
          lines: before.lines + 2499
        })
        yield* sql`DELETE FROM reconciliations WHERE id = 'rc_at_work'`
      })
    )
  })
}
