/** A list of very many lines: read as it comes, without being gathered in memory. */
import { request } from "node:http"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ReconciliationView } from "../../src/features/reconciliations/ReconciliationsApi.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { addressOf } from "../support/vendorLists.ts"

/** `RECONCILED_LINES=1000000` is the long form. */
const LINES = Number(process.env.RECONCILED_LINES ?? 40_000)
/** Every so manieth line tells another amount. */
const EVERY = 1000
const PIECE = 1000
const TIMEOUT = 60_000 + LINES

const decodeView = Schema.decodeUnknownSync(Schema.fromJsonString(ReconciliationView))

/** Two lines of every three are of orders. */
const isOurs = (number: number): boolean => number % 3 !== 0

function* pieces() {
  yield "id,cost,note\n"
  for (let first = 1; first <= LINES; first += PIECE) {
    const lines: Array<string> = []
    for (let number = first; number < Math.min(first + PIECE, LINES + 1); number++) {
      const cost = number % EVERY === 1 ? "1.000000002" : "1.000000001"
      lines.push(`call-${number},${cost},a note of some words beside them\n`)
    }
    yield lines.join("")
  }
}

/** Sends the list a piece at a time, as fast as it is taken. */
const upload = (url: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
        const asked = addressOf({ channel: "ch-i", id: "id", amount: "cost" })
        const sent = request(`${url}/admin/v1${asked}`, {
          method: "POST",
          headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "text/csv" }
        })
        sent.on("error", reject)
        sent.on("response", (answer) =>
          text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
        )
        Readable.from(pieces()).pipe(sent)
      })
  )

/** What the heap had at most in the meantime, beyond what it had before; in MiB. */
const heapGrowth = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const used = () => {
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = used()
    let most = before
    const watch = setInterval(() => {
      most = Math.max(most, used())
    }, 20)
    return effect.pipe(
      Effect.map((value) => ({ value, mebibytes: Math.round((most - before) / 1024 / 1024) })),
      Effect.ensuring(Effect.sync(() => clearInterval(watch)))
    )
  })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `a list of ${LINES} lines (${kind})`,
    (it) => {
      it.effect(
        "is compared exactly, and other requests are answered meanwhile",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const sql = yield* SqlClient.SqlClient
            const { organizationId, memberId } = yield* gateway.customer("1")
            for (let first = 1; first <= LINES; first += 20_000) {
              yield* sql`
                INSERT INTO orders (organization_id, id, member_id, key_id, model, modality, is_task,
                  month, hold, quote, job, expires_at, state, charge, closed_at, input, output, unit,
                  unit_price, basis, cost, call)
                SELECT ${organizationId}, 'im_00000000-0000-7000-8000-' || lpad(n::text, 12, '0'),
                       ${memberId}, 'k', 'paint-1', 'image', false, '2026-01-01', 1, '{}',
                       '{"channelId": "ch-i", "protocol": "ip_a", "upstreamModel": "u"}', now(),
                       'captured', 1, now(), 0, 1, 'image', 1, 'requested_images', 1000000001,
                       jsonb_build_object('requestId', 'call-' || n)
                  FROM generate_series(${first}::int, ${Math.min(first + 19_999, LINES)}::int) n
                 WHERE n % 3 <> 0`
            }
            let asked = 0
            let slowest = 0
            const others = Effect.gen(function* () {
              const sent = performance.now()
              yield* gateway.admin("/channels")
              slowest = Math.max(slowest, Math.round(performance.now() - sent))
              asked++
            }).pipe(Effect.delay("20 millis"))
            const begun = performance.now()
            const { value, mebibytes } = yield* upload(gateway.url).pipe(
              heapGrowth,
              Effect.raceFirst(Effect.forever(others))
            )
            const seconds = ((performance.now() - begun) / 1000).toFixed(1)
            yield* Effect.logInfo(
              `${kind}: ${LINES} lines in ${seconds} s, ${mebibytes} MiB of heap, ${asked} other requests in ${slowest} ms at most`
            )
            assert.strictEqual(value.status, 200, value.body)
            const { lines, totals } = decodeView(value.body)
            const numbers = Array.from({ length: LINES }, (_, index) => index + 1)
            const ours = numbers.filter(isOurs)
            const different = ours.filter((number) => number % EVERY === 1).length
            assert.strictEqual(lines, LINES)
            assert.deepStrictEqual(
              Object.values(totals).map(({ count }) => count),
              [ours.length - different, different, 0, LINES - ours.length, 0]
            )
            assert.isAbove(asked, 0)
          }),
        TIMEOUT
      )
    }
  )
}
