/** What PostgreSQL reads for a page of an operator's list, seen from its own statistics. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { InvalidRequest } from "../../src/domain/Errors.ts"
import { uuidBeginning } from "../../src/domain/orderIds.ts"
import type { Page, PageRequest } from "../../src/runtime/Page.ts"
import { Budgets } from "../../src/services/money/Budgets.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import {
  anyOrder,
  type OrderFilter,
  OrderLists,
  type OrderPage
} from "../../src/services/OrderLists.ts"
import { Orphans } from "../../src/services/Orphans.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { AdminAudit } from "../../src/services/operators/AdminAudit.ts"
import { Operators } from "../../src/services/operators/Operators.ts"
import { anyKey, anyMember, anyOrganization, anyWrite, openOrphans } from "../support/filters.ts"
import { layerStoresOnServer } from "../support/ledger.ts"

const ONE_CONNECTION = 1
/** Rows of each table; `LIST_ROWS` makes it more. */
const MANY = Number(process.env.LIST_ROWS ?? 20_000)
const LIMIT = 10
/** Rows of a name that are sorted for a page, and orders of a kind that one looks at. */
const [FEW, LOOKED_AT] = [1000, 2000]

const Reads = Schema.Tuple([Schema.Struct({ rows: Schema.BigInt })])

type Read = (page: PageRequest) => Effect.Effect<Page<{ readonly id: string }>, InvalidRequest>

/** Every nth row is of the one that lists are asked of: half of them, and a hundredth. */
const [HALF, RARE, SPARSE] = [2, 100, 97]
/** Of orders that come one after the other: some kinds are more than others. */
const KINDS = ["im", "vt", "im", "tx", "im", "im", "vt", "im", "tx", "vt"]
/** The nth order comes n seconds later, as its id tells. */
const BEGINNING = Date.UTC(2027, 0, 1)
const orderUuid = (n: number) =>
  `${uuidBeginning(new Date(BEGINNING + n * 1000))}-7000-8000-${String(n).padStart(12, "0")}`
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`

const filled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // No time limit, and neither references nor triggers row by row.
  yield* sql`SET statement_timeout = 0`
  yield* sql`SET session_replication_role = replica`
  const rows = sql`generate_series(1, ${MANY}::int) AS n`
  const id = (prefix: string) =>
    sql`${`${prefix}_00000000-0000-7000-8000-`} || lpad(n::text, 12, '0')`
  const each = (step: number, then: string, otherwise: string) =>
    sql`CASE n % ${step}::int WHEN 0 THEN ${then} ELSE ${otherwise} END`
  const [all, members] = [`org_${uuid(0)}`, `mem_${uuid(HALF)}`]
  const name = each(RARE, "Lighthouse", "studio")
  yield* sql`INSERT INTO organizations (id, name) VALUES (${all}, 'all')`
  yield* sql`INSERT INTO pools (organization_id, balance) VALUES (${all}, 0)`
  yield* sql`
    INSERT INTO organizations (id, name, disabled_at)
    SELECT ${id("org")}, ${name}, CASE n % ${RARE}::int WHEN 0 THEN now() END FROM ${rows}`
  yield* sql`INSERT INTO pools (organization_id) SELECT ${id("org")} FROM ${rows}`
  const owner = sql`CASE n % ${HALF}::int WHEN 0 THEN ${all} ELSE ${id("org")} END`
  yield* sql`
    INSERT INTO members (organization_id, id, name, disabled_at)
    SELECT ${owner}, ${id("mem")}, ${name}, CASE n % ${RARE}::int WHEN 0 THEN now() END FROM ${rows}`
  yield* sql`
    INSERT INTO api_keys (organization_id, id, member_id, name, hash, scopes, revoked_at)
    SELECT ${owner}, ${id("key")}, CASE n % ${HALF}::int WHEN 0 THEN ${members} ELSE ${id("mem")} END,
           ${name}, decode(md5(n::text), 'hex'), '{images}',
           CASE n % ${RARE}::int WHEN 0 THEN now() END FROM ${rows}`
  yield* sql`
    INSERT INTO operators (id, name, role, hash)
    SELECT ${id("op")}, 'x', 'viewer', decode(md5(n::text), 'hex') FROM ${rows}`
  yield* sql`
    INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference, reason, author)
    SELECT ${all}, ${id("tr")}, kind, debit, 'pool', 1, n::text, why, why
      FROM ${rows} CROSS JOIN LATERAL (VALUES
        (0, 'deposit', 'external', NULL), (1, 'credit', 'adjustments', 'x')) k (rest, kind, debit, why)
     WHERE n % ${HALF}::int = rest`
  yield* sql`
    INSERT INTO budgets (organization_id, id, scope, subject_id, period, amount, thresholds)
    SELECT ${all}, ${id("bg")}, 'member', ${id("mem")}, 'total', 1, '{}' FROM ${rows}`
  const kind = sql`(${KINDS}::text[])[n % ${KINDS.length}::int + 1]`
  const orderId = sql`${kind} || '_' || regexp_replace(
    lpad(to_hex(${BEGINNING}::bigint + n * 1000), 12, '0'), '(.{8})(.{4})', '\\1-\\2')
    || '-7000-8000-' || lpad(n::text, 12, '0')`
  const job = sql`jsonb_build_object('channelId', ${each(RARE, "near", "far")},
    'protocol', 'p', 'upstreamModel', 'u')`
  const orderOwner = sql`CASE n % ${HALF}::int WHEN 0 THEN ${all} ELSE ${`org_${uuid(1)}`} END`
  const orderMember = sql`CASE n % ${HALF}::int WHEN 0 THEN ${members} ELSE ${`mem_${uuid(1)}`} END`
  yield* sql`
    INSERT INTO orders (organization_id, id, member_id, key_id, model, modality, is_task, month, hold,
                        quote, job, metadata, created_at, expires_at, state, charge, closed_at, closed_by, input,
                        output, unit, unit_price, basis)
    SELECT ${orderOwner}, ${orderId}, ${orderMember}, ${`key_${uuid(HALF)}`}, ${each(RARE, "rare", "m")},
           ${each(SPARSE, "vlm", "image")}, ${kind} = 'vt', date_trunc('month', now())::date, 1, '{}', ${job},
           CASE n % ${RARE}::int WHEN 0 THEN '{"project": "a"}'::jsonb END,
           to_timestamp(${BEGINNING / 1000}::float8 + n), now(), 'captured', 1, now(),
           'test', 0, 1, 'image', 1, 'requested_images' FROM ${rows}`
  yield* sql`
    INSERT INTO order_tags (organization_id, name, value, order_id)
    SELECT organization_id, 'project', 'a', id FROM orders WHERE metadata IS NOT NULL`
  yield* sql`
    INSERT INTO tasks (organization_id, id, member_id, model, channel_id, protocol, listed_protocol,
                       upstream_model, summary, state, upstream_id, account_version, key_name,
                       video_url, submit_deadline, deadline, finished_at)
    SELECT organization_id, id, member_id, model, 'far', 'p', 'p', 'u', '{}', 'succeeded', 'up ' || id,
           1, 'k', 'x', now(), now(), now() FROM orders WHERE is_task`
  yield* sql`
    INSERT INTO orphans (organization_id, order_id, job, reason, resolved_at, created_at)
    SELECT organization_id, id, job, model, CASE model WHEN 'rare' THEN NULL ELSE now() END,
           now() + right(id, 12)::int * interval '1 second' FROM orders`
  yield* sql`
    INSERT INTO admin_audit (id, action, subject_id, request_id, status, operator_id, operator_name)
    SELECT ${id("au")}, ${each(RARE, "rare", "x")}, ${each(RARE, "rare", "x")}, 'r', 200,
           ${each(RARE, "rare", "x")}, 'x' FROM ${rows}`
  // Its reading would be counted as a page's.
  yield* sql`
    DO $do$ DECLARE t regclass; BEGIN
      FOR t IN SELECT c.oid FROM pg_class c
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t);
      END LOOP;
    END $do$`
  yield* sql`RESET session_replication_role`
  yield* sql`RESET statement_timeout`
  yield* sql`ANALYZE`
  return { all, members }
})

/** The id in that place; one without a prefix is an order's. */
const idAt = (prefix: string, place: number): string =>
  prefix === ""
    ? `${KINDS[place % KINDS.length] ?? "im"}_${orderUuid(place)}`
    : `${prefix}_${uuid(place)}`

layer(layerStoresOnServer(ONE_CONNECTION), { excludeTestServices: true, timeout: "120 seconds" })(
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
          const budgets = yield* Budgets
          const orphans = yield* Orphans
          const audit = yield* AdminAudit
          const orders = yield* OrderLists
          const { all: organizationId, members: memberId } = yield* filled
          // Of this connection alone: an autovacuum worker that summarises the index of recent orders
          // reads the whole table at a time of its own.
          const readRows = sql`
            SELECT (sum(pg_stat_get_xact_tuples_returned(oid))
                    + sum(CASE relkind WHEN 'r' THEN pg_stat_get_xact_tuples_fetched(oid) END))::bigint AS rows
              FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`.pipe(
            Effect.flatMap(Schema.decodeUnknownEffect(Reads)),
            Effect.map(([{ rows }]) => Number(rows))
          )
          const rowsReadBy = Effect.fnUntraced(function* (read: ReturnType<Read>) {
            const before = yield* readRows
            const page = yield* read
            return { page, rows: (yield* readRows) - before }
          }, sql.withTransaction)

          /** Every `step`th row stands on the list. */
          interface List {
            readonly prefix: string
            readonly step: number
            /** Where the list is of the rows between those. */
            readonly shift?: number
            readonly read: Read
            /** The most that a page may read. */
            readonly most: number
          }
          // A row and its entry in an index, for each of what belongs to it in three tables; the cursor.
          const short = 2 * 3 * (LIMIT + 2)
          const of = (prefix: string, step: number, read: Read, most = short): List => ({
            prefix,
            step,
            read,
            most
          })
          const others = (list: List): List => ({ ...list, shift: 1 })
          const { organizations, members, keys } = accounts
          // Those of a rare name are looked for twice; to those of a frequent one it is not far.
          const byName = 6 * (FEW + LIMIT)
          // Of three kinds: the way, the order by it, and then once more with all that belongs to it.
          const ofKinds = 3 * 2 * 8 * (LIMIT + 2)
          const listed = (step: number, filter: Partial<OrderFilter>, most = ofKinds): List =>
            of("", step, (page) => orders.list({ ...anyOrder, ...filter }, page), most)
          // Of every kind so many and no more: the way, the order, and its task.
          const looked = 3 * 2 * 3 * LOOKED_AT + ofKinds
          const tag = { name: "project", value: "a" }
          const lists: Readonly<Record<string, List>> = {
            organizations: of("org", 1, (page) => organizations(anyOrganization, page)),
            "disabled organizations": of("org", RARE, (page) =>
              organizations({ ...anyOrganization, enabled: false }, page)
            ),
            "organizations of a name": of(
              "org",
              RARE,
              (page) => organizations({ ...anyOrganization, name: "light" }, page),
              byName
            ),
            "organizations of a frequent name": others(
              of(
                "org",
                RARE,
                (page) => organizations({ ...anyOrganization, name: "STUD" }, page),
                byName
              )
            ),
            members: of("mem", 1, (page) => members(anyMember, page)),
            "members of one": of("mem", HALF, (page) =>
              members({ ...anyMember, organizationId }, page)
            ),
            "disabled members": of("mem", RARE, (page) =>
              members({ ...anyMember, enabled: false }, page)
            ),
            "members of a name": of(
              "mem",
              RARE,
              (page) => members({ ...anyMember, name: "Light" }, page),
              byName
            ),
            keys: of("key", 1, (page) => keys(anyKey, page)),
            "keys of one": of("key", HALF, (page) => keys({ ...anyKey, organizationId }, page)),
            "keys of a member": of("key", HALF, (page) => keys({ ...anyKey, memberId }, page)),
            "revoked keys": of("key", RARE, (page) => keys({ ...anyKey, revoked: true }, page)),
            "valid keys": others(
              of("key", RARE, (page) => keys({ ...anyKey, revoked: false }, page))
            ),
            "keys of a name": of(
              "key",
              RARE,
              (page) => keys({ ...anyKey, name: "light" }, page),
              byName
            ),
            operators: of("op", 1, operators.list),
            deposits: of("tr", HALF, (page) => transfers.deposits(organizationId, page)),
            adjustments: others(
              of("tr", HALF, (page) => transfers.adjustments(organizationId, page))
            ),
            budgets: of("bg", 1, (page) => budgets.list(organizationId, null, page)),
            audit: of("au", 1, (page) => audit.list(anyWrite, page)),
            "audit of an operator": of("au", RARE, (page) =>
              audit.list({ ...anyWrite, operatorId: "rare" }, page)
            ),
            "audit of an action": of("au", RARE, (page) =>
              audit.list({ ...anyWrite, action: "rare" }, page)
            ),
            "audit of a subject": of("au", RARE, (page) =>
              audit.list({ ...anyWrite, subjectId: "rare" }, page)
            ),
            orphans: of("", RARE, (page) => orphans.list(openOrphans, page)),
            "resolved orphans": of("", 1, (page) =>
              orphans.list({ ...openOrphans, isResolved: true }, page)
            ),
            "orphans of one": of("", RARE, (page) =>
              orphans.list({ ...openOrphans, organizationId }, page)
            ),
            "orphans of a channel": of("", RARE, (page) =>
              orphans.list({ ...openOrphans, channelId: "near" }, page)
            ),
            "orphans of a reason": of("", RARE, (page) =>
              orphans.list({ ...openOrphans, reason: "rare" }, page)
            ),
            orders: listed(1, {}),
            "orders of one": listed(HALF, { organizationId }),
            "orders of a member": listed(HALF, { memberId }),
            "orders of a key": listed(HALF, { keyId: `key_${uuid(HALF)}` }),
            "orders of a tag": listed(RARE, { organizationId, tag }),
            "orders of a time": listed(1, {
              from: new Date(0),
              to: new Date(BEGINNING + MANY * 2000)
            }),
            "orders of one and a time": listed(HALF, { organizationId, from: new Date(0) }),
            "orders of a model": listed(RARE, { model: "rare" }, looked),
            "orders of nothing that there is": listed(1, { model: "none" }, looked),
            "tasks of one": listed(HALF, { organizationId, tasksOnly: true }),
            tasks: listed(1, { tasksOnly: true }),
            "tasks by the vendor's id": listed(1, {
              upstreamId: `up vt_${orderUuid(3 * LIMIT + 1)}`
            })
          }
          const cases = Object.entries(lists).flatMap(([name, list]) =>
            [MANY, MANY / 2, 3 * RARE * LIMIT].map((place) => ({ name, place, ...list }))
          )
          for (const { name, place, prefix, step, shift = 0, read, most } of cases) {
            const at = place - (place % step) - shift
            const after = idAt(prefix, at)
            const { page, rows } = yield* rowsReadBy(read({ after, limit: LIMIT }))
            const label = `${name} after ${place}`
            assert.isAtMost(rows, most, label)
            if (name.includes("nothing")) {
              // At the end there is less than what a page looks at.
              assert.deepInclude(page, { data: [], hasMore: place > 3 * 2000 })
            } else if (!name.includes("vendor's")) assert.isNotEmpty(page.data, label)
          }

          // Where few are wanted, pages are short, and come to each of them once, the newest first.
          const sparse = { ...anyOrder, organizationId, modality: "vlm" }
          const wanted = yield* sql`
            SELECT id FROM orders WHERE organization_id = ${organizationId} AND modality = 'vlm'
             ORDER BY right(id, 12) DESC`.pipe(
            Effect.flatMap(
              Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.String })))
            )
          )
          const seen: Array<string> = []
          let after: string | null = null
          let pages = 0
          do {
            const page: OrderPage = yield* orders.list(sparse, { after, limit: 100 })
            seen.push(...page.data.map(({ id }) => id))
            after = page.next
            pages += 1
          } while (after !== null)
          assert.deepStrictEqual(
            seen,
            wanted.map(({ id }) => id)
          )
          assert.isAbove(pages, 1 + seen.length / 100)
        })
    )
  }
)
