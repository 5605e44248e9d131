/**
 * The wire to the database is cut again and again under load: before a statement about money
 * arrives, while it is committed, and in the middle of its answer. A cut of the last two kinds hides
 * whether it was committed, so the id has to be looked up.
 */
import { assert, it } from "@effect/vitest"
import { Config, Context, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { type CutAt, startTcpProxy } from "../support/tcpProxy.ts"

/**
 * What the statements that hold and close an order's money carry, and no other statement: an array
 * from 1 on, whose first element is an id of 39 characters.
 */
const idsFrom = (prefix: string) => `\u0000\u0000\u0000\u0001\u0000\u0000\u0000\u0027${prefix}`
const VIDEO = idsFrom("vt_")
const IMAGE = idsFrom("im_")

const places: ReadonlyArray<readonly [CutAt, string]> = (
  ["request", "work", "answer"] as const
).flatMap((at) => [[at, VIDEO] as const, [at, IMAGE] as const])

const CLIENTS = 8

/** A hold nobody came to know of is given back while the test waits. */
const settings = {
  ...quickSettings,
  leaseSeconds: 1,
  submitDeadlineSeconds: 20,
  imageDeadlineSeconds: 20
}

it.live(
  "every job the vendor made is charged once, wherever the connections are cut",
  () =>
    Effect.gen(function* () {
      const cuts = yield* Config.Int("CUTS").pipe(Config.withDefault(60))
      const url = new URL(yield* temporaryServerDatabase)
      const direct = layerDatabaseAt(url.href, 2)
      const wire = yield* startTcpProxy(Number(url.port))
      url.port = String(wire.port)
      const context = yield* Layer.build(
        Layer.fresh(
          layerTestGateway("postgres", settings, {
            database: layerDatabaseAt(url.href)
          })
        )
      )
      const gateway = Context.get(context, Gateway)
      const sql = Context.get(yield* Layer.build(Layer.fresh(direct)), SqlClient.SqlClient)
      const who = yield* gateway.customer("100000")

      const statuses: Array<number> = []
      const order = (kind: "videos" | "images", model: string) =>
        gateway
          .call(`/v1/${kind}/generations`, { key: who.key, json: { model, prompt: "x" } })
          .pipe(Effect.map(({ status }) => statuses.push(status)))
      const answered = () => statuses.filter((status) => status === 200).length
      let going = true
      const client = (index: number) =>
        Effect.whileLoop({
          while: () => going,
          body: () => (index % 2 === 0 ? order("videos", "film-1") : order("images", "paint-1")),
          step: () => undefined
        })
      const load = yield* Effect.forEach(
        Array.from({ length: CLIENTS }, (_, index) => index),
        (index) => Effect.forkChild(client(index))
      )
      for (let cut = 0; cut < cuts; cut++) {
        const [at, text] = places[cut % places.length] ?? ["request", VIDEO]
        yield* wire.cutOnce(at, text)
        // Somebody gets through between two cuts, or one statement might meet all of them.
        const before = answered()
        yield* Effect.sleep("5 millis").pipe(
          Effect.repeat({ until: () => answered() > before }),
          Effect.timeout("30 seconds")
        )
      }
      going = false
      yield* Effect.forEach(load, Fiber.join)

      assert.deepEqual(
        [...new Set(statuses)].filter((status) => status !== 200 && status !== 503),
        []
      )
      yield* gateway
        .balance(who)
        .pipe(
          Effect.delay("50 millis"),
          Effect.repeat({ until: ({ held }) => held === "0" }),
          Effect.timeout("60 seconds")
        )
      const jobs = (yield* gateway.simulator.book).filter(({ event }) => event === "accepted")
      const charges = yield* sql<{ modality: string; count: bigint }>`
        SELECT modality, count(*) FROM orders
         WHERE state = 'captured' AND organization_id = ${who.organizationId} GROUP BY modality ORDER BY modality`
      assert.deepEqual(
        charges.map(({ modality, count }) => [modality, Number(count)]),
        ["image", "video"].map((kind) => [kind, jobs.filter((job) => job.kind === kind).length])
      )
      assert.strictEqual(answered(), jobs.length)
      assert.deepEqual(yield* sql`SELECT id FROM orders WHERE state = 'open'`, [])
      assert.deepEqual(yield* sql`SELECT * FROM orphans`, [])
      yield* gateway.verify
    }).pipe(Effect.scoped),
  300_000
)
