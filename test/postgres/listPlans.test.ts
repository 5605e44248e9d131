/** What PostgreSQL reads for a page of an operator's list, seen from its own statistics. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { InvalidRequest } from "../../src/domain/Errors.ts"
import type { Page, PageRequest } from "../../src/runtime/Page.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { Operators } from "../../src/services/operators/Operators.ts"
import { layerStoresOnServer, organization } from "../support/ledger.ts"

const ONE_CONNECTION = 1
const MANY = 3000
const LIMIT = 10

const Reads = Schema.Tuple([Schema.Struct({ rows: Schema.BigInt })])

type Read = (page: PageRequest) => Effect.Effect<Page<{ readonly id: string }>, InvalidRequest>

layer(layerStoresOnServer(ONE_CONNECTION), { excludeTestServices: true, timeout: "60 seconds" })(
  "the plans of the operators' lists",
  (it) => {
    it.effect(
      "read as much for a page as stands on it, at the start, in the middle, at the end",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const accounts = yield* Accounts
          const operators = yield* Operators
          const transfers = yield* Transfers
          const { organizationId, memberIds } = yield* organization(1n)
          const [memberId = ""] = memberIds
          const id = (prefix: string) =>
            sql`${`${prefix}_00000000-0000-7000-8000-`} || lpad(n::text, 12, '0')`
          const rows = sql`generate_series(1, ${MANY}::int) AS n`
          yield* sql`INSERT INTO organizations (id, name) SELECT ${id("org")}, 'x' FROM ${rows}`
          yield* sql`INSERT INTO pools (organization_id) SELECT ${id("org")} FROM ${rows}`
          // Half of each list is of the organisation, and half of the others.
          const owner = sql`CASE n % 2 WHEN 0 THEN ${organizationId} ELSE ${id("org")} END`
          yield* sql`
          INSERT INTO members (organization_id, id, name) SELECT ${owner}, ${id("mem")}, 'x' FROM ${rows}`
          yield* sql`
          INSERT INTO api_keys (organization_id, id, member_id, name, hash, scopes)
          SELECT ${owner}, ${id("key")}, CASE n % 2 WHEN 0 THEN ${memberId} ELSE ${id("mem")} END,
                 'x', decode(md5(n::text), 'hex'), '{images}' FROM ${rows}`
          yield* sql`
          INSERT INTO operators (id, name, role, hash)
          SELECT ${id("op")}, 'x', 'viewer', decode(md5(n::text), 'hex') FROM ${rows}`
          yield* sql`
          INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference)
          SELECT ${organizationId}, ${id("tr")}, 'deposit', 'external', 'pool', 1, n::text FROM ${rows}`
          yield* transfers.adjust({
            ...{ organizationId, kind: "credit", amountNano: 1n, reference: "one" },
            ...{ reason: "x", author: "y", orderId: null }
          })
          yield* sql`ANALYZE`
          const readRows = sql`SELECT pg_stat_force_next_flush()`.pipe(
            Effect.andThen(
              sql`SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint AS rows
                  FROM pg_stat_user_tables`
            ),
            Effect.flatMap(Schema.decodeUnknownEffect(Reads)),
            Effect.map(([{ rows }]) => Number(rows))
          )

          const lists: Readonly<Record<string, readonly [prefix: string, read: Read]>> = {
            organizations: ["org", accounts.organizations],
            members: ["mem", (page) => accounts.members({ organizationId: null }, page)],
            "members of one": ["mem", (page) => accounts.members({ organizationId }, page)],
            keys: ["key", (page) => accounts.keys({ organizationId: null, memberId: null }, page)],
            "keys of one": [
              "key",
              (page) => accounts.keys({ organizationId, memberId: null }, page)
            ],
            "keys of a member": [
              "key",
              (page) => accounts.keys({ organizationId: null, memberId }, page)
            ],
            operators: ["op", operators.list],
            deposits: ["tr", (page) => transfers.deposits(organizationId, page)],
            adjustments: ["tr", (page) => transfers.adjustments(organizationId, page)]
          }
          for (const [name, [prefix, list]] of Object.entries(lists)) {
            for (const place of [MANY, MANY / 2, LIMIT]) {
              const cursor = `${prefix}_00000000-0000-7000-8000-${String(place).padStart(12, "0")}`
              const before = yield* readRows
              const page = yield* list({
                after: name === "adjustments" ? null : cursor,
                limit: LIMIT
              })
              const read = (yield* readRows) - before
              // A row, what belongs to it in two tables, and the cursor.
              assert.isAtMost(read, 3 * (LIMIT + 2), `${name} after ${place}`)
              assert.isNotEmpty(page.data, `${name} after ${place}`)
            }
          }
        })
    )
  }
)
