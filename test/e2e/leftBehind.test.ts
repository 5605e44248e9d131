import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { IdempotencyKeys } from "../../src/services/IdempotencyKeys.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { ordered } from "../support/ledger.ts"

const Count = Schema.Tuple([Schema.Struct({ n: Schema.Int })])
const decodeCount = Schema.decodeUnknownEffect(Count)

/** The hold of a task that a gateway left in `submitting`, or of an image request. */
const leaveBehind = Effect.fnUntraced(function* (who: Customer, id: string) {
  const ledger = yield* Ledger
  yield* ledger.hold({
    organizationId: who.organizationId,
    memberId: who.memberId,
    ...ordered,
    id,
    amountNano: 5n,
    ttlSeconds: 600,
    quote: {
      kind: "second_video",
      resolution: "720p",
      outputSeconds: 5,
      nanoPerSecond: "1",
      holdNano: "5"
    },
    job: { channelId: "ch-a", protocol: "vp_a", upstreamModel: "u" },
    task: id.startsWith("vt_") ? { listedProtocol: "vp_a", summary: {}, submitSeconds: 600 } : null,
    key: null
  })
})

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "what is left behind",
  (it) => {
    it.effect("is given back also while another organisation's books are broken", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* PgClient.PgClient
        const broken = yield* gateway.customer("100")
        const sound = yield* gateway.customer("100")
        yield* leaveBehind(broken, "vt_broken")
        yield* leaveBehind(sound, "im_sound")
        // No release of this one can succeed: held may not fall below zero.
        yield* sql`UPDATE pools SET held = 0 WHERE organization_id = ${broken.organizationId}`
        yield* sql`UPDATE tasks SET submit_deadline = now() - interval '1 minute' WHERE id = 'vt_broken'`
        yield* sql`
          UPDATE orders SET created_at = now() - interval '5 minutes', expires_at = now()
           WHERE id = 'im_sound'`
        yield* sql`UPDATE orders_settled SET before = now() - interval '6 minutes'`
        yield* gateway
          .balance(sound)
          .pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" }),
            Effect.timeout("30 seconds")
          )
        const [{ n }] = yield* decodeCount(
          yield* sql`SELECT count(*)::int AS n FROM orders WHERE id = 'vt_broken' AND state = 'open'`
        )
        assert.strictEqual(n, 1)
      })
    )

    it.effect("of idempotency keys is deleted, however much it is, and no other", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const idempotencyKeys = yield* IdempotencyKeys
        yield* sql`
          INSERT INTO idempotency_keys (organization_id, key, fingerprint, order_id, expires_at)
          SELECT 'org_old', 'k' || i, 'f', 'h' || i,
                 now() + CASE WHEN i <= 2500 THEN '-1 second' ELSE '1 hour' END::interval
            FROM generate_series(1, 2510) AS i`
        yield* idempotencyKeys.purge
        const [{ n }] = yield* decodeCount(
          yield* sql`SELECT count(*)::int AS n FROM idempotency_keys WHERE organization_id = 'org_old'`
        )
        assert.strictEqual(n, 10)
      })
    )
  }
)
