/**
 * A database that is gone, full or locked: clients are told to come again within bounded time, and
 * no vendor is asked for anything that is not paid for.
 */

import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { startPostgres } from "../support/postgresServer.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"

const film = { model: "film-1", prompt: "a lighthouse" }
const paint = { model: "paint-1", prompt: "a lighthouse" }

/** A hold whose answer was lost is given back soon. */
const settings = {
  ...quickSettings,
  submitDeadlineSeconds: 5,
  imageDeadlineSeconds: 5,
  holdPatienceSeconds: 1
}

/** A gateway on the database, a customer of 100 who has ordered before, and the gateway's own pool. */
const gatewayOn = Effect.fnUntraced(function* (url: string, maxConnections = 8) {
  const context = yield* Layer.build(
    Layer.fresh(
      layerTestGateway("postgres", settings, {
        database: layerDatabaseAt(url, maxConnections)
      })
    )
  )
  const gateway = Context.get(context, Gateway)
  const sql = Context.get(context, SqlClient.SqlClient)
  const who = yield* gateway.customer("100")
  const order = (kind: "videos" | "images") =>
    gateway.call(`/v1/${kind}/generations`, {
      key: who.key,
      json: kind === "videos" ? film : paint
    })
  const read = gateway.call("/v1/balance", { key: who.key })
  const accepted = Effect.map(gateway.simulator.book, (book) =>
    book.filter((entry) => entry.event === "accepted")
  )
  assert.strictEqual((yield* order("images")).status, 200)
  return { gateway, sql, who, order, read, accepted }
})

/** Another client of the same database, which the gateway knows nothing of. */
const stranger = (url: string) =>
  Effect.map(
    Layer.build(Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

const isComeAgain = (answer: HttpAnswer) =>
  answer.status === 503 &&
  answer.text.includes('"overloaded"') &&
  Number(answer.headers.get("retry-after")) > 0

/** An order whose hold was released before its vendor's answer could be charged. */
const isAnswerTooLate = (answer: HttpAnswer) =>
  answer.status === 504 && answer.text.includes("after the request had been given up")

const assertComeAgain = (answers: ReadonlyArray<HttpAnswer>) =>
  assert.deepEqual(
    answers.filter((answer) => !isComeAgain(answer)).map(({ status, text }) => [status, text]),
    []
  )

/** Asks until the answer is true; the limit only keeps a failed test from hanging. */
const until = (question: Effect.Effect<boolean>) =>
  question.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (answer) => answer }),
    Effect.timeout("50 seconds")
  )

const settle = (gateway: Gateway["Service"], who: Customer) =>
  until(Effect.map(gateway.balance(who), ({ held }) => held === "0"))

it.live(
  "while PostgreSQL is dead everybody is told to come again, and once it lives all goes on",
  () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        ({ stop }) => Effect.promise(stop)
      )
      const { gateway, sql, order, read, accepted } = yield* gatewayOn(server.url)
      const under: Array<HttpAnswer> = []
      const load = yield* Effect.forEach(
        [order("videos"), order("images"), order("images"), read],
        (request) =>
          Effect.map(request, (answer) => void under.push(answer)).pipe(
            // Without a pause the load alone would keep a processor busy until the server is back.
            Effect.delay("10 millis"),
            Effect.forever,
            Effect.forkChild
          )
      )
      yield* until(Effect.sync(() => under.length > 20))
      yield* Effect.promise(() => server.kill("SIGKILL"))
      assertComeAgain(
        yield* Effect.all([order("videos"), order("images"), read], { concurrency: "unbounded" })
      )
      const jobsWhileDead = (yield* accepted).length
      assertComeAgain([yield* order("images")])
      assert.strictEqual((yield* accepted).length, jobsWhileDead)

      yield* Effect.promise(() => server.start())
      yield* until(Effect.map(read, ({ status }) => status === 200))
      // The ledger's connections may come back after the one that answered the read.
      yield* until(Effect.map(order("images"), ({ status }) => status === 200))
      yield* Effect.forEach(load, Fiber.interrupt)
      // Orders that their vendor had when PostgreSQL died may outlast their holds.
      assertComeAgain(under.filter((answer) => answer.status !== 200 && !isAnswerTooLate(answer)))

      // Orders of the load that their clients have left are still being recorded.
      const unrecorded = Effect.gen(function* () {
        const jobs = yield* accepted
        const holds = yield* sql`SELECT id FROM orders`
        const recorded = yield* sql<{ upstream_id: string }>`
          SELECT upstream_id FROM tasks WHERE upstream_id IS NOT NULL
          UNION SELECT upstream_id FROM orphans WHERE upstream_id IS NOT NULL`
        const ids = new Set(recorded.map(({ upstream_id }) => upstream_id))
        assert.isAtMost(jobs.length, holds.length)
        return jobs.filter(({ kind, upstream_id }) => kind === "video" && !ids.has(upstream_id))
      }).pipe(Effect.orDie)
      yield* until(Effect.map(unrecorded, (jobs) => jobs.length === 0))
      yield* gateway.verify
    }).pipe(Effect.scoped)
)

it.live("a pool whose row is locked for long: come again, and no vendor is asked", () =>
  Effect.gen(function* () {
    const url = yield* temporaryServerDatabase
    const { gateway, who, order, accepted } = yield* gatewayOn(url)
    const other = yield* stranger(url)
    const before = (yield* accepted).length
    yield* Effect.gen(function* () {
      yield* other`SELECT 1 FROM pools WHERE organization_id = ${who.organizationId} FOR UPDATE`
      const answers = yield* Effect.all([order("videos"), order("images")], {
        concurrency: "unbounded"
      })
      assertComeAgain(answers)
      // Nothing was sent to a vendor, so a client's library may repeat the order by itself.
      assert.deepEqual(
        answers.map(({ headers }) => headers.get("x-should-retry")),
        [null, null]
      )
    }).pipe(other.withTransaction)
    assert.strictEqual((yield* accepted).length, before)
    assert.strictEqual((yield* order("videos")).status, 200)
    yield* settle(gateway, who)
    yield* gateway.verify
  }).pipe(Effect.scoped)
)

it.live("every connection in use: come again, and no vendor is asked", () =>
  Effect.gen(function* () {
    const { gateway, sql, order, who, accepted } = yield* gatewayOn(
      yield* temporaryServerDatabase,
      2
    )
    const before = (yield* accepted).length
    const taken = yield* Deferred.make<void>()
    const free = yield* Deferred.make<void>()
    const users = yield* Effect.forkChild(
      Effect.all(
        [1, 2].map((which) =>
          sql.withTransaction(
            Effect.andThen(
              which === 2 ? Deferred.succeed(taken, undefined) : Effect.void,
              Deferred.await(free)
            )
          )
        ),
        { concurrency: "unbounded" }
      )
    )
    yield* Deferred.await(taken)
    assertComeAgain(
      yield* Effect.all(
        [
          order("videos"),
          order("images"),
          gateway.call("/v1/balance", { key: who.key }),
          gateway.call("/v1/videos/vt_00000000-0000-7000-8000-000000000000", { key: who.key }),
          gateway.call("/v1/usage", { key: who.key })
        ],
        { concurrency: "unbounded" }
      )
    )
    assert.strictEqual((yield* accepted).length, before)
    yield* Deferred.succeed(free, undefined)
    yield* Fiber.join(users)
    assert.strictEqual((yield* order("images")).status, 200)
  }).pipe(Effect.scoped)
)

it.live("a deadlock with somebody who locks in the other order loses no hold", () =>
  Effect.gen(function* () {
    const url = yield* temporaryServerDatabase
    const { gateway, sql, who, order } = yield* gatewayOn(url)
    const other = yield* stranger(url)
    const waiting = Effect.map(
      sql`SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      (rows) => rows.length > 0
    ).pipe(Effect.orDie)
    const ordering = yield* Deferred.make<Fiber.Fiber<HttpAnswer>>()
    const backwards = Effect.gen(function* () {
      yield* other`SELECT 1 FROM member_months
                    WHERE organization_id = ${who.organizationId} FOR UPDATE`
      yield* Deferred.succeed(ordering, yield* Effect.forkChild(order("images")))
      yield* until(waiting)
      yield* other`SELECT 1 FROM pools WHERE organization_id = ${who.organizationId} FOR UPDATE`
    })
    // PostgreSQL ends either of the two, whichever sees the deadlock first.
    yield* Effect.exit(other.withTransaction(backwards))
    const ordered = yield* Deferred.await(ordering)
    const answer = yield* Fiber.join(ordered)
    if (answer.status !== 200) assertComeAgain([answer])
    const paid = answer.status === 200 ? 2 : 1
    yield* settle(gateway, who)
    assert.strictEqual((yield* gateway.balance(who)).balance, `${100 - paid * 0.2}`)
    yield* gateway.verify
    yield* until(
      Effect.map(
        sql`SELECT 1 FROM pg_stat_database
             WHERE datname = current_database() AND deadlocks > 0`,
        (rows) => rows.length > 0
      ).pipe(Effect.orDie)
    )
  }).pipe(Effect.scoped)
)

it.live("a database whose wire is silently dead: come again, until the wire is back", () =>
  Effect.gen(function* () {
    const url = new URL(yield* temporaryServerDatabase)
    const wire = yield* startTcpProxy(Number(url.port))
    url.port = String(wire.port)
    const { gateway, who, order, read, accepted } = yield* gatewayOn(url.href, 2)
    const before = (yield* accepted).length
    wire.swallow()
    assertComeAgain(
      yield* Effect.all([order("videos"), order("images"), read], { concurrency: "unbounded" })
    )
    assert.strictEqual((yield* accepted).length, before)
    wire.pass()
    yield* until(Effect.map(read, ({ status }) => status === 200))
    yield* until(Effect.map(order("images"), ({ status }) => status === 200))
    // The poller, which had asked in vain as well, is the only one that settles it.
    assert.strictEqual((yield* order("videos")).status, 200)
    yield* until(Effect.map(gateway.balance(who), ({ held }) => held === "0"))
  }).pipe(Effect.scoped)
)
