/**
 * A database that goes away after the vendor has answered: the client waits for its word, and hears
 * what stands in the books.
 */
import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Failpoint, Failpoints } from "../../src/runtime/Failpoints.ts"
import { Ledger, type Release } from "../../src/services/Ledger.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { layerStoresOn } from "../support/ledger.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"
import { textCatalog } from "../support/textCatalog.ts"

const orders = {
  video: {
    path: "/v1/videos/generations",
    json: (prompt: string) => ({ model: "film-1", prompt }),
    answered: "video.made",
    refused: "video.refused"
  },
  image: {
    path: "/v1/images/generations",
    json: (prompt: string) => ({ model: "paint-1", prompt }),
    answered: "image.made",
    refused: "image.refused"
  },
  text: {
    path: "/v1/chat/completions",
    json: (content: string) => ({ model: "talk-1", messages: [{ role: "user", content }] }),
    answered: "text.made",
    refused: "text.refused"
  }
} as const

type Kind = keyof typeof orders

/**
 * An order whose database is out of reach from the vendor's answer on. `meanwhile` runs beside it
 * on a wire of its own, with the id of the hold.
 */
const ordered = Effect.fnUntraced(function* (
  kind: Kind,
  end: "answered" | "refused",
  meanwhile: (hold: {
    readonly organizationId: string
    readonly holdId: string
  }) => Effect.Effect<unknown, unknown, Ledger | SqlClient.SqlClient>
) {
  const direct = yield* temporaryServerDatabase
  const url = new URL(direct)
  const wire = yield* startTcpProxy(Number(url.port))
  url.port = String(wire.port)
  const away = yield* Deferred.make<void>()
  const pass = (failpoint: Failpoint) =>
    failpoint === orders[kind][end]
      ? Effect.andThen(
          Effect.sync(() => wire.swallow()),
          Deferred.succeed(away, undefined)
        )
      : Effect.void
  const context = yield* Layer.build(
    Layer.fresh(
      layerTestGateway("postgres", quickSettings, {
        database: layerDatabaseAt(url.href),
        catalogFor: textCatalog()
      }).pipe(Layer.provide(Layer.succeed(Failpoints, { pass })))
    )
  )
  const gateway = Context.get(context, Gateway)
  const who = yield* gateway.customer("100")
  const { path, json } = orders[kind]
  const prompt = end === "refused" ? "a lighthouse sim:refuse=422" : "a lighthouse"
  const order = yield* Effect.forkChild(gateway.call(path, { key: who.key, json: json(prompt) }))
  yield* Deferred.await(away)
  const elsewhere = yield* Layer.build(Layer.fresh(layerStoresOn(layerDatabaseAt(direct))))
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* Schema.decodeUnknownEffect(
      Schema.Tuple([Schema.Struct({ id: Schema.String })])
    )(yield* sql`SELECT id FROM orders WHERE state = 'open'`)
    yield* meanwhile({ organizationId: who.organizationId, holdId: row.id })
  }).pipe(Effect.provide(elsewhere))
  wire.pass()
  wire.cutAll()
  const answer = yield* Fiber.join(order)
  const settled = gateway
    .balance(who)
    .pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: ({ held }) => held === "0" }),
      Effect.timeout("50 seconds")
    )
  const { balance } = yield* settled
  yield* gateway.verify
  const orphans = yield* Context.get(context, SqlClient.SqlClient)`
    SELECT reason, upstream_id IS NOT NULL AS named FROM orphans`
  return { gateway, who, answer, charged: balance !== "100", orphans }
})

/** As the sweep of another gateway gives it back. */
const swept = (kind: Kind, hold: Pick<Release, "organizationId" | "holdId">) =>
  Effect.flatMap(Ledger, ({ release }) =>
    release({
      ...hold,
      by: "sweep",
      task:
        kind === "video"
          ? {
              from: "submitting",
              state: "rejected",
              errorCode: "upstream_error",
              errorMessage: "The gateway stopped"
            }
          : null,
      orphan: { upstreamId: null, reason: "gateway_stopped" },
      answer: null,
      forgetKey: false
    })
  )

const Created = Schema.Struct({ id: Schema.String })

for (const kind of ["video", "image", "text"] as const) {
  it.live(`${kind}: what is recorded once the database is back is answered and charged`, () =>
    Effect.gen(function* () {
      const { gateway, who, answer, charged, orphans } = yield* ordered(
        kind,
        "answered",
        () => Effect.void
      )
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isTrue(charged)
      assert.deepEqual(orphans, [])
      if (kind !== "video") return
      const { id } = yield* bodyAs(Created, answer)
      const read = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
      assert.strictEqual(read.status, 200, read.text)
    }).pipe(Effect.scoped)
  )

  it.live(`${kind}: what another gateway gave back meanwhile is neither answered nor charged`, () =>
    Effect.gen(function* () {
      const { answer, charged, orphans } = yield* ordered(kind, "answered", (hold) =>
        swept(kind, hold)
      )
      assert.strictEqual(answer.status, 504, answer.text)
      assert.strictEqual(answer.headers.get("x-should-retry"), "false")
      assert.isFalse(charged)
      assert.deepEqual(orphans, [{ reason: "gateway_stopped", named: kind === "video" }])
    }).pipe(Effect.scoped)
  )

  it.live(`${kind}: a refusal is answered when its hold is back`, () =>
    Effect.gen(function* () {
      const { answer, charged, orphans } = yield* ordered(kind, "refused", () => Effect.void)
      assert.strictEqual(answer.status, 422, answer.text)
      assert.isFalse(charged)
      assert.deepEqual(orphans, [])
    }).pipe(Effect.scoped)
  )
}

for (const kind of ["image", "text"] as const) {
  it.live(`${kind}: a charge that waits for the database goes before the gateway's own sweep`, () =>
    Effect.gen(function* () {
      const { answer, charged } = yield* ordered(kind, "answered", ({ holdId }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE orders SET expires_at = now() WHERE id = ${holdId}`
        )
      )
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isTrue(charged)
    }).pipe(Effect.scoped)
  )
}
