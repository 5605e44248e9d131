/**
 * Lists of orders in PostgreSQL. Each list is read along an index whose ids are in order of time,
 * kind by kind. Conditions that no index serves are checked row by row, so a page scans a bounded
 * number of rows of each kind.
 */
import { Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { NO_PRICE_LIST } from "../../domain/catalog/PriceList.ts"
import { isOrderId, orderPrefixes, uuidBeginning } from "../../domain/orderIds.ts"
import { Distribution } from "../../postgres/citus/Distribution.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { makeLongReads } from "../../postgres/client/longReads.ts"
import {
  columnsOf,
  MAX_CLOCK_SKEW_MILLIS,
  retryBriefly,
  rowOf,
  rowsOf
} from "../../postgres/client/rows.ts"
import { orderKinds } from "../../postgres/ledger/journal.ts"
import { openOrderIds } from "../../postgres/ledger/openOrders.ts"
import { usageSumColumns } from "../../postgres/ledger/usageSumColumns.ts"
import { type PageRequest, unknownCursor } from "../../runtime/Page.ts"
import {
  ListedOrder,
  noSuchOrder,
  type OrderFilter,
  OrderLists,
  type OrderPage,
  type OrderSumFilter,
  OrderTotals,
  totalsOfState
} from "../../services/OrderLists.ts"

/** The maximum number of rows of one kind that a page scans. */
const MAX_SCANNED_ROWS = 2000
/**
 * The maximum of a page of all organisations on a cluster: each shard scans as many, even if the
 * first rows already fill the page.
 */
const MAX_ROWS_PER_SHARD = 500

/**
 * The maximum time from minting an order's id to its commit; the order waits for permits in
 * between.
 */
const MAX_COMMIT_DELAY_MILLIS = 600_000

const orderColumns = columnsOf(ListedOrder, "o", {
  upstreamId: "coalesce(t.upstream_id, p.upstream_id)",
  holdNano: "o.hold",
  chargeNano: "o.charge",
  overageNano: "o.overage",
  returnedNano: "o.returned",
  costNano: "o.cost",
  vendorBill: "o.vendor_bill",
  reportedCostNano: "o.reported_cost",
  taskState: "t.state",
  summary: "t.summary",
  errorCode: "coalesce(t.error_code, o.failure ->> 'code')",
  errorMessage: "coalesce(o.failure ->> 'message', t.error_message)",
  acceptedAt: "t.accepted_at",
  erasedAt: "t.erased_at",
  askedAt: "t.asked_at",
  nextPollAt: "t.next_poll_at"
})

const closedSums = usageSumColumns({
  succeeded: "count",
  failed: "failed",
  chargeNano: "charge",
  returnedNano: "returned",
  costNano: "cost",
  withoutCost: "without_cost",
  reportedCostNano: "reported_cost",
  withoutReportedCost: "without_reported_cost"
})

/** The totals of orders with the alias `o`, except what was returned of their charges. */
const countedTotals = `
  count(*) FILTER (WHERE o.state = 'open')::int AS processing,
  count(*) FILTER (WHERE o.state = 'captured')::int AS succeeded,
  count(*) FILTER (WHERE o.state = 'released')::int AS failed,
  coalesce(sum(o.hold) FILTER (WHERE o.state = 'open'), 0)::text AS "heldNano",
  coalesce(sum(o.charge), 0)::text AS "chargeNano",
  coalesce(sum(o.cost), 0)::text AS "costNano",
  (count(*) FILTER (WHERE o.state = 'captured') - count(o.cost))::int AS "withoutCost",
  coalesce(sum(o.reported_cost), 0)::text AS "reportedCostNano",
  (count(*) FILTER (WHERE o.state = 'captured') - count(o.reported_cost))::int
    AS "withoutReportedCost"`

const kindPrefixes = Object.values(orderPrefixes).map((prefix) => `${prefix}_`)

/** The price list of an order with the alias `o`. */
const priceListColumn = `coalesce(o.price_list_id, '${NO_PRICE_LIST}')`

const Row = Schema.Struct({
  ...ListedOrder.fields,
  kind: Schema.String,
  uuid: Schema.String,
  /** The position among the scanned rows of this kind, from 1. */
  position: Schema.Int,
  isMatch: Schema.Boolean
})
type Row = typeof Row.Type

const Owner = Schema.Struct({
  organizationId: Schema.String,
  memberId: Schema.NullOr(Schema.String)
})

/**
 * Makes a page of the scanned rows. The scan of a kind may stop at some id, beyond which the rows
 * of that kind are unknown. So the page ends at the newest of these ids.
 */
const pageOf = (rows: ReadonlyArray<Row>, limit: number, maxScannedRows: number): OrderPage => {
  const [end] = [...Map.groupBy(rows, ({ kind }) => kind).values()]
    .flatMap((rowsOfKind) => {
      const last = rowsOfKind.at(-1)
      return last !== undefined && (rowsOfKind.length > limit || last.position === maxScannedRows)
        ? [last]
        : []
    })
    .toSorted((a, b) => (a.uuid < b.uuid ? 1 : -1))
  const matches = rows.filter(
    ({ isMatch, uuid }) => isMatch && (end === undefined || uuid >= end.uuid)
  )
  const data = matches.slice(0, limit)
  const last = matches.length > limit ? data.at(-1) : end
  return { data, hasMore: last !== undefined, next: last?.id ?? null }
}

export const layerOrderLists = Layer.effect(
  OrderLists,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals } = makeConditions(sql)
    const { isDistributed } = yield* Distribution
    const readLong = yield* makeLongReads(sql)

    /** Whether the statement runs on many nodes. */
    const isSpread = (organizationId: string | null) => isDistributed && organizationId === null

    /**
     * Ends a LATERAL subquery whose rows are looked up by a key: with stale statistics a join would
     * read the whole table. A statement that runs on many nodes has to be such a join.
     */
    const fenceOf = (organizationId: string | null) =>
      sql.literal(isSpread(organizationId) ? "" : "OFFSET 0")

    /**
     * The owner of the filter's key or member; null where key, member and organisation contradict
     * each other.
     */
    const ownerOf = Effect.fnUntraced(function* (filter: OrderFilter) {
      const { keyId, memberId, organizationId } = filter
      if (keyId === null && memberId === null) return { organizationId, memberId }
      const [owner] = yield* rowsOf(Owner)(
        retryBriefly(
          keyId === null
            ? sql`SELECT organization_id AS "organizationId", id AS "memberId"
                    FROM members WHERE id = ${memberId}`
            : sql`SELECT organization_id AS "organizationId", member_id AS "memberId"
                    FROM api_keys WHERE id = ${keyId}`
        )
      )
      const isConsistent =
        owner !== undefined &&
        owner.organizationId === (organizationId ?? owner.organizationId) &&
        owner.memberId === (memberId ?? owner.memberId)
      return isConsistent ? owner : null
    })

    /** The table whose index the list is read along, and the condition on the table's rows. */
    const indexOf = (
      filter: OrderFilter,
      owner: Pick<OrderFilter, "organizationId" | "memberId">
    ) => {
      const { upstreamId, tag, tasksOnly, taskState } = filter
      const { organizationId, memberId } = owner
      const isOfOwner = sql`${equals("w.organization_id", organizationId)} AND ${equals("w.member_id", memberId)}`
      if (upstreamId !== null) {
        return {
          table: "tasks",
          id: "w.id",
          condition: sql`w.upstream_id = ${upstreamId} AND ${isOfOwner}`
        }
      }
      // A member's list is not read along the tags: its cursor might then be the id of another
      // member's order, which the list must not reveal.
      if (tag !== null && organizationId !== null && memberId === null) {
        const condition = sql`w.organization_id = ${organizationId} AND w.name = ${tag.name}
                     AND w.value = ${tag.value}`
        return { table: "order_tags", id: "w.order_id", condition }
      }
      return {
        table: tasksOnly || taskState !== null ? "tasks" : "orders",
        id: "w.id",
        condition: isOfOwner
      }
    }

    const equalsFields = (
      table: string,
      { memberId, keyId, model, modality }: OrderSumFilter
    ) => sql`
      ${equals(`${table}.member_id`, memberId)} AND ${equals(`${table}.key_id`, keyId)}
      AND ${equals(`${table}.model`, model)} AND ${equals(`${table}.modality`, modality)}`
    const isWithin = (time: string, { from, to }: OrderSumFilter) => sql`
      ${from === null ? sql`true` : sql`${sql.literal(time)} >= ${from}`}
      AND ${to === null ? sql`true` : sql`${sql.literal(time)} < ${to}`}`

    /** The conditions on an order with the alias `o` that lists and totals share. */
    const isCounted = (filter: OrderSumFilter) => sql`(
      ${equalsFields("o", filter)} AND ${equals("o.job ->> 'channelId'", filter.channelId)}
      AND ${equals(priceListColumn, filter.priceListId)}
      AND ${filter.tag === null ? sql`true` : sql`o.metadata ->> ${filter.tag.name} = ${filter.tag.value}`}
      AND ${filter.tasksOnly ? sql`o.is_task` : sql`true`})`

    const isMatch = (filter: OrderFilter) => sql`(
      ${isCounted(filter)} AND ${isWithin("o.created_at", filter)} AND ${equals("o.state", filter.state)}
      AND ${equals("t.state", filter.taskState)} AND ${equals("o.prompt_digest", filter.promptDigest)})`

    /** An order and what was returned of its charge. */
    const orderOf = (organizationId: string | null, condition: Statement.Fragment) => sql`
      SELECT q.*, (SELECT coalesce(sum(r.amount), 0)::bigint FROM transfers r
                    WHERE r.organization_id = q.organization_id AND r.order_id = q.id
                      AND ${equals("r.organization_id", organizationId)}) AS returned
        FROM orders q WHERE ${condition} AND ${equals("q.organization_id", organizationId)}`

    const selectPage = (
      filter: OrderFilter,
      owner: Pick<OrderFilter, "organizationId" | "memberId">,
      { after, limit }: PageRequest,
      maxScannedRows: number
    ) => {
      const { table, id, condition } = indexOf(filter, owner)
      const column = sql.literal(id)
      const fence = fenceOf(owner.organizationId)
      const isOnRoute = equals("organization_id", owner.organizationId)
      const uuidAt = (time: Date | null, shiftMillis: number) =>
        time === null ? [] : [uuidBeginning(new Date(time.getTime() + shiftMillis))]
      const cursor = after === null ? [] : [after.slice(after.indexOf("_") + 1)]
      const [first = ""] = uuidAt(filter.from, -MAX_COMMIT_DELAY_MILLIS)
      const [last = "~"] = [...cursor, ...uuidAt(filter.to, MAX_CLOCK_SKEW_MILLIS)].toSorted()
      const matchesOf = (prefix: Statement.Fragment) => sql`
        (SELECT scanned.*, ${prefix} AS kind
           FROM (SELECT x.*, row_number() OVER (ORDER BY x.id DESC)::int AS position
                   FROM (SELECT w.organization_id, ${column} AS id, ${isMatch(filter)} IS TRUE AS is_match
                           FROM ${sql.literal(table)} w
                          CROSS JOIN LATERAL (
                            SELECT * FROM orders
                             WHERE organization_id = w.organization_id AND id = ${column}
                               AND ${isOnRoute} ${fence}) o
                           LEFT JOIN LATERAL (
                             SELECT state FROM tasks
                              WHERE organization_id = w.organization_id AND id = ${column}
                                AND ${isOnRoute} ${fence}) t
                             ON ${filter.taskState === null ? sql`false` : sql`true`}
                          WHERE ${condition} AND ${column} >= ${prefix} || ${first}::text
                            AND ${column} < ${prefix} || ${last}::text
                          ORDER BY ${column} DESC LIMIT ${maxScannedRows}) x) scanned
          WHERE is_match OR position = ${maxScannedRows}
          ORDER BY id DESC LIMIT ${limit + 1})`
      // One PostgreSQL always reads along the index if it plans without the values of the prefixes.
      const matches = isSpread(owner.organizationId)
        ? sql.join(
            " UNION ALL ",
            false
          )(kindPrefixes.map((prefix) => matchesOf(sql`${prefix}::text`)))
        : sql`SELECT m.* FROM ${sql.literal(orderKinds)} CROSS JOIN LATERAL ${matchesOf(sql`prefix`)} m`
      return sql`
        SELECT ${sql.literal(orderColumns)}, f.kind, f.position, f.is_match AS "isMatch",
               substr(f.id, length(f.kind) + 1) AS uuid
          FROM (${matches}) f
         CROSS JOIN LATERAL (
           ${orderOf(owner.organizationId, sql`q.organization_id = f.organization_id AND q.id = f.id`)}
           ${fence}) o
          LEFT JOIN LATERAL (
            SELECT * FROM tasks
             WHERE organization_id = o.organization_id AND id = o.id AND ${isOnRoute} ${fence}) t ON true
          LEFT JOIN LATERAL (
            SELECT upstream_id FROM orphans
             WHERE organization_id = o.organization_id AND order_id = o.id
               AND ${isOnRoute} ${fence}) p ON true
         ORDER BY uuid DESC`
    }

    /**
     * Reads open and closed orders in one statement, so that an order that closes in between counts
     * only once.
     */
    const totalsOf = (filter: OrderSumFilter, openIds: ReadonlyArray<string>) => {
      const { organizationId, tag, from, to } = filter
      // Without times, the sums of months are read, which are fewer rows than the sums of days.
      const step = from === null && to === null ? "month" : "day"
      return sql`
        SELECT open.*, closed.*
          FROM (
            SELECT count(*)::int AS processing, coalesce(sum(o.hold), 0)::text AS "heldNano"
              FROM orders o
             WHERE o.id = ANY (${openIds}::text[]) AND o.state = 'open'
               AND ${equals("o.organization_id", organizationId)} AND ${isCounted(filter)}
               AND ${isWithin("o.created_at", filter)}) open
         CROSS JOIN (
            SELECT ${sql.literal(closedSums)}
              FROM organizations g
             CROSS JOIN LATERAL (
               SELECT * FROM usage_sums u
                WHERE organization_id = g.id AND ${equals("organization_id", organizationId)}
                  AND tag_name = ${tag?.name ?? ""} AND step = ${step}
                  AND tag_value = ${tag?.value ?? ""} AND ${isWithin("start", filter)}
                  AND ${equalsFields("u", filter)} AND ${equals("channel_id", filter.channelId)}
               ${fenceOf(organizationId)}) s
             WHERE ${equals("g.id", organizationId)}) closed`
    }

    /** Counts the orders of a period one by one, which serves filters that no stored sum has. */
    const countedTotalsOf = (filter: OrderSumFilter) => {
      const isOfOrganization = (column: string) => equals(column, filter.organizationId)
      const fence = fenceOf(filter.organizationId)
      return sql`
        SELECT counted.*, returned.*
          FROM (
            SELECT ${sql.literal(countedTotals)} FROM orders o
             WHERE ${isOfOrganization("o.organization_id")} AND ${isCounted(filter)}
               AND ${isWithin("o.created_at", filter)}) counted
         CROSS JOIN (
            SELECT coalesce(sum(r.amount), 0)::text AS "returnedNano"
              FROM organizations g
             CROSS JOIN LATERAL (
               SELECT * FROM transfers
                WHERE organization_id = g.id AND order_id IS NOT NULL
                  AND ${isOfOrganization("organization_id")}
                  AND ${isWithin("created_at", filter)} ${fence}) r
             CROSS JOIN LATERAL (
               SELECT * FROM orders
                WHERE organization_id = r.organization_id AND id = r.order_id
                  AND ${isOfOrganization("organization_id")} ${fence}) o
             WHERE ${isOfOrganization("g.id")} AND ${isCounted(filter)}) returned`
    }

    return OrderLists.of({
      list: Effect.fn("OrderLists.list")(function* (filter, page) {
        const { after } = page
        if (after !== null) {
          const cursorRows = isOrderId(after)
            ? yield* retryBriefly(
                sql`SELECT 1 FROM orders
                     WHERE id = ${after} AND ${equals("organization_id", filter.organizationId)}
                       AND ${equals("member_id", filter.memberId)}`
              )
            : []
          if (cursorRows.length === 0) return yield* unknownCursor
        }
        const owner = yield* ownerOf(filter)
        if (owner === null) return { data: [], hasMore: false, next: null }
        const maxScannedRows = isSpread(owner.organizationId)
          ? Math.max(MAX_ROWS_PER_SHARD, page.limit + 1)
          : MAX_SCANNED_ROWS
        const rows = yield* rowsOf(Row)(
          retryBriefly(selectPage(filter, owner, page, maxScannedRows))
        )
        return pageOf(rows, page.limit, maxScannedRows)
      }),
      find: Effect.fn("OrderLists.find")(function* ({ organizationId, memberId }, id) {
        const [order] = isOrderId(id)
          ? yield* rowsOf(ListedOrder)(
              retryBriefly(sql`
                SELECT ${sql.literal(orderColumns)}
                  FROM (${orderOf(organizationId, sql`q.id = ${id} AND q.member_id = ${memberId}`)}) o
                  LEFT JOIN tasks t ON t.organization_id = ${organizationId} AND t.id = o.id
                  LEFT JOIN orphans p ON p.organization_id = ${organizationId} AND p.order_id = o.id`)
            )
          : []
        return order ?? (yield* noSuchOrder)
      }),
      totals: Effect.fn("OrderLists.totals")((filter) =>
        Effect.map(
          rowOf(OrderTotals)(
            filter.priceListId === null
              ? retryBriefly(
                  Effect.flatMap(openOrderIds(sql, filter.organizationId), (openIds) =>
                    totalsOf(filter, openIds)
                  )
                )
              : readLong(countedTotalsOf(filter))
          ),
          (totals) => totalsOfState(totals, filter.state)
        )
      )
    })
  })
)
