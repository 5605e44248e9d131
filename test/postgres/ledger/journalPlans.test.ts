/** What PostgreSQL reads for a page of the journal, seen from its own statistics. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../../src/services/Ledger.ts"
import { UsageLog } from "../../../src/services/UsageLog.ts"
import { layerStoresOnServer, organization } from "../../support/ledger.ts"

const ONE_CONNECTION = 1
const JOBS = 3000
const PAGES = 5
const LIMIT = 10
const MIDDLE = `im_00000000-0000-7000-8000-${String(JOBS / 2).padStart(12, "0")}`

const Reads = Schema.Tuple([Schema.Struct({ rows: Schema.BigInt })])

layer(layerStoresOnServer(ONE_CONNECTION), { excludeTestServices: true, timeout: "60 seconds" })(
  "the plans of the journal",
  (it) => {
    it.effect("read as much for a page as stands on it, however long the books are", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const usageLog = yield* UsageLog
        const { organizationId, memberIds } = yield* organization(1000n)
        yield* sql`
          INSERT INTO orders (organization_id, id, member_id, key_id, model, modality, is_task,
                              month, hold, quote, job, state, charge, created_at, expires_at,
                              closed_at, closed_by, input, output, unit, unit_price, basis)
          SELECT ${organizationId}, 'im_00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), ${memberIds[0]},
                 'key_1', 'm', 'image', false, date_trunc('month', now())::date, 1, '{}', '{}', 'captured', 1,
                 now() + n * interval '1 second', now() + interval '1 day',
                 now() + n * interval '1 second' + interval '500 milliseconds', 'test', 0, 1, 'image', 1, 'requested_images'
            FROM generate_series(1, ${JOBS}::int) AS n`
        yield* sql`
          INSERT INTO order_tags (organization_id, name, value, order_id)
          SELECT organization_id, 'project', CASE WHEN id < ${MIDDLE} THEN 'old' ELSE 'new' END, id
            FROM orders`
        yield* sql`ANALYZE`
        const read = sql`SELECT pg_stat_force_next_flush()`.pipe(
          Effect.andThen(
            sql`SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint AS rows
                  FROM pg_stat_user_tables WHERE relname IN ('orders', 'transfers', 'order_tags')`
          ),
          Effect.flatMap(Schema.decodeUnknownEffect(Reads)),
          Effect.map(([{ rows }]) => Number(rows))
        )

        const before = yield* read
        let after: string | null = null
        const kinds = new Set<string>()
        for (let page = 0; page < PAGES; page++) {
          const { data }: { readonly data: ReadonlyArray<{ readonly id: string }> } =
            yield* ledger.journal(organizationId, { after, limit: LIMIT })
          after = data.at(-1)?.id ?? null
          kinds.add(after?.split("_")[0] ?? "none")
        }

        assert.deepStrictEqual([...kinds].toSorted(), ["hold", "release", "tr"])
        // Each kind of order reads no more than a page, deposits as well, and the cursor is one row.
        assert.isBelow((yield* read) - before, PAGES * 4 * (LIMIT + 1))

        // Along a tag that only old orders carry: each is a row of the tags and one of the orders.
        const beforeTags = yield* read
        const tag = { name: "project", value: "old" }
        let last: string | null = null
        for (let page = 0; page < PAGES; page++) {
          const { data }: { readonly data: ReadonlyArray<{ readonly id: string }> } =
            yield* usageLog.list(
              organizationId,
              { memberId: null, tag },
              { after: last, limit: LIMIT }
            )
          assert.lengthOf(data, LIMIT)
          last = data.at(-1)?.id ?? null
        }
        assert.isBelow((yield* read) - beforeTags, PAGES * 3 * (LIMIT + 2))
      })
    )
  }
)
