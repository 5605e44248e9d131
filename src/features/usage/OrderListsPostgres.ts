/**
 * Lists of orders in PostgreSQL. Each is read along an index whose ids stand in order of time, kind by
 * kind, and what no index serves is told apart on the way: of each kind a page looks at so many rows,
 * and no more.
 */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isOrderId, uuidBeginning } from "../../domain/orderIds.ts"
import {
  columnsOf,
  MAX_CLOCK_SKEW_MILLIS,
  repeatable,
  rowOf,
  rowsOf
} from "../../postgres/client/rows.ts"
import { orderKinds } from "../../postgres/ledger/journal.ts"
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
} from "./OrderLists.ts"

/** Rows of one kind that a page looks at. */
const LOOKED_AT = 2000

/** An id is minted before its order waits for its place and its commit. */
const LONGEST_WAIT_MILLIS = 600_000

const orderColumns = columnsOf(ListedOrder, "o", {
  upstreamId: "coalesce(t.upstream_id, p.upstream_id)",
  holdNano: "o.hold",
  chargeNano: "o.charge",
  overageNano: "o.overage",
  returnedNano: `(SELECT coalesce(sum(r.amount), 0)::bigint FROM transfers r
                   WHERE r.organization_id = o.organization_id AND r.order_id = o.id)`,
  costNano: "o.cost",
  taskState: "t.state",
  summary: "t.summary",
  errorCode: "t.error_code",
  errorMessage: "t.error_message",
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
  withoutCost: "without_cost"
})

const Row = Schema.Struct({
  ...ListedOrder.fields,
  kind: Schema.String,
  uuid: Schema.String,
  /** Which of the rows that were looked at, from 1. */
  nth: Schema.Int,
  isWanted: Schema.Boolean
})
type Row = typeof Row.Type

const Owner = Schema.Struct({
  organizationId: Schema.String,
  memberId: Schema.NullOr(Schema.String)
})

/** Of each kind the rows come up to a place, and a page ends where the first of the kinds does. */
const pageOf = (rows: ReadonlyArray<Row>, limit: number): OrderPage => {
  const [end] = [...Map.groupBy(rows, ({ kind }) => kind).values()]
    .flatMap((ofKind) => {
      const last = ofKind.at(-1)
      return last !== undefined && (ofKind.length > limit || last.nth === LOOKED_AT) ? [last] : []
    })
    .toSorted((one, other) => (one.uuid < other.uuid ? 1 : -1))
  const wanted = rows.filter(
    ({ isWanted, uuid }) => isWanted && (end === undefined || uuid >= end.uuid)
  )
  const data = wanted.slice(0, limit)
  const last = wanted.length > limit ? data.at(-1) : end
  return { data, hasMore: last !== undefined, next: last?.id ?? null }
}

export const layerOrderLists = Layer.effect(
  OrderLists,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const only = (column: string, value: string | null) =>
      value === null ? sql`true` : sql`${sql.literal(column)} = ${value}`

    /** A key is its member's, and a member its organisation's; null where they do not go together. */
    const ownerOf = Effect.fnUntraced(function* (filter: OrderFilter) {
      const { keyId, memberId, organizationId } = filter
      if (keyId === null && memberId === null) return { organizationId, memberId }
      const [owner] = yield* rowsOf(Owner)(
        repeatable(
          keyId === null
            ? sql`SELECT organization_id AS "organizationId", id AS "memberId"
                    FROM members WHERE id = ${memberId}`
            : sql`SELECT organization_id AS "organizationId", member_id AS "memberId"
                    FROM api_keys WHERE id = ${keyId}`
        )
      )
      const fits =
        owner !== undefined &&
        owner.organizationId === (organizationId ?? owner.organizationId) &&
        owner.memberId === (memberId ?? owner.memberId)
      return fits ? owner : null
    })

    /** The table whose index leads through the list, and what of it is the list's. */
    const wayOf = (
      filter: OrderFilter,
      owner: Pick<OrderFilter, "organizationId" | "memberId">
    ) => {
      const { upstreamId, tag, tasksOnly, taskState } = filter
      const { organizationId, memberId } = owner
      const own = sql`${only("w.organization_id", organizationId)} AND ${only("w.member_id", memberId)}`
      if (upstreamId !== null) {
        return { table: "tasks", id: "w.id", such: sql`w.upstream_id = ${upstreamId} AND ${own}` }
      }
      // Where a page ends may be an order of another member, which a member is not told of.
      if (tag !== null && organizationId !== null && memberId === null) {
        const such = sql`w.organization_id = ${organizationId} AND w.name = ${tag.name}
                     AND w.value = ${tag.value}`
        return { table: "order_tags", id: "w.order_id", such }
      }
      return { table: tasksOnly || taskState !== null ? "tasks" : "orders", id: "w.id", such: own }
    }

    const isOf = (table: string, { memberId, keyId, model, modality }: OrderSumFilter) => sql`
      ${only(`${table}.member_id`, memberId)} AND ${only(`${table}.key_id`, keyId)}
      AND ${only(`${table}.model`, model)} AND ${only(`${table}.modality`, modality)}`
    const within = (time: string, { from, to }: OrderSumFilter) => sql`
      ${from === null ? sql`true` : sql`${sql.literal(time)} >= ${from}`}
      AND ${to === null ? sql`true` : sql`${sql.literal(time)} < ${to}`}`

    const isWanted = (filter: OrderFilter) => sql`(
      ${isOf("o", filter)} AND ${within("o.created_at", filter)}
      AND ${only("o.job ->> 'channelId'", filter.channelId)} AND ${only("o.state", filter.state)}
      AND ${only("t.state", filter.taskState)} AND ${only("o.prompt_digest", filter.promptDigest)}
      AND ${filter.tag === null ? sql`true` : sql`o.metadata ->> ${filter.tag.name} = ${filter.tag.value}`}
      AND ${filter.tasksOnly ? sql`o.is_task` : sql`true`})`

    const newest = (
      filter: OrderFilter,
      owner: Pick<OrderFilter, "organizationId" | "memberId">,
      { after, limit }: PageRequest
    ) => {
      const { table, id, such } = wayOf(filter, owner)
      const [column, way] = [sql.literal(id), sql.literal(table)]
      const at = (time: Date | null, shift: number) =>
        time === null ? [] : [uuidBeginning(new Date(time.getTime() + shift))]
      const cursor = after === null ? [] : [after.slice(after.indexOf("_") + 1)]
      const [first = ""] = at(filter.from, -LONGEST_WAIT_MILLIS)
      const [last = "~"] = [...cursor, ...at(filter.to, MAX_CLOCK_SKEW_MILLIS)].toSorted()
      return sql`
        SELECT ${sql.literal(orderColumns)}, f.prefix AS kind, f.nth, f.is_wanted AS "isWanted",
               substr(f.id, length(f.prefix) + 1) AS uuid
          FROM (
            SELECT kinds.prefix, looked.*
              FROM ${sql.literal(orderKinds)}
             CROSS JOIN LATERAL (
               SELECT n.id, n.organization_id, n.nth, ${isWanted(filter)} AS is_wanted
                 FROM (SELECT w.organization_id, ${column} AS id,
                              row_number() OVER (ORDER BY ${column} DESC)::int AS nth
                         FROM ${way} w
                        WHERE ${such} AND ${column} >= prefix || ${first}::text
                          AND ${column} < prefix || ${last}::text
                        ORDER BY ${column} DESC LIMIT ${LOOKED_AT}) n
                CROSS JOIN LATERAL (SELECT * FROM orders
                                     WHERE organization_id = n.organization_id AND id = n.id OFFSET 0) o
                 LEFT JOIN LATERAL (SELECT state FROM tasks
                                     WHERE organization_id = n.organization_id AND id = n.id OFFSET 0) t
                   ON ${filter.taskState === null ? sql`false` : sql`true`}
                WHERE ${isWanted(filter)} OR n.nth = ${LOOKED_AT}
                ORDER BY n.id DESC LIMIT ${limit + 1}) looked) f
         CROSS JOIN LATERAL (SELECT * FROM orders
                              WHERE organization_id = f.organization_id AND id = f.id OFFSET 0) o
          LEFT JOIN LATERAL (SELECT * FROM tasks
                              WHERE organization_id = f.organization_id AND id = f.id OFFSET 0) t ON true
          LEFT JOIN LATERAL (SELECT upstream_id FROM orphans
                              WHERE organization_id = f.organization_id AND order_id = f.id OFFSET 0) p
            ON true
         ORDER BY uuid DESC`
    }

    /** Both at one moment: an order that is closed counts as the one or as the other. */
    const totalsOf = (filter: OrderSumFilter) => {
      const { organizationId, tag, from, to } = filter
      // Whole months are fewer lines.
      const step = from === null && to === null ? "month" : "day"
      return sql`
        SELECT open.*, closed.*
          FROM (
            SELECT count(*)::int AS processing, coalesce(sum(o.hold), 0)::text AS "heldNano"
              FROM open_orders() o
             WHERE ${only("o.organization_id", organizationId)} AND ${isOf("o", filter)}
               AND ${only("o.job ->> 'channelId'", filter.channelId)}
               AND ${within("o.created_at", filter)}
               AND ${tag === null ? sql`true` : sql`o.metadata ->> ${tag.name} = ${tag.value}`}
               AND ${filter.tasksOnly ? sql`o.is_task` : sql`true`}) open
         CROSS JOIN (
            SELECT ${sql.literal(closedSums)}
              FROM organizations g
             CROSS JOIN LATERAL (
               SELECT * FROM usage_sums u
                WHERE organization_id = g.id AND tag_name = ${tag?.name ?? ""} AND step = ${step}
                  AND tag_value = ${tag?.value ?? ""} AND ${within("start", filter)}
                  AND ${isOf("u", filter)} AND ${only("channel_id", filter.channelId)}
               OFFSET 0) s
             WHERE ${only("g.id", organizationId)}) closed`
    }

    return OrderLists.of({
      list: Effect.fn("OrderLists.list")(function* (filter, page) {
        const { after } = page
        if (after !== null) {
          const known = isOrderId(after)
            ? yield* repeatable(
                sql`SELECT 1 FROM orders
                     WHERE id = ${after} AND ${only("organization_id", filter.organizationId)}
                       AND ${only("member_id", filter.memberId)}`
              )
            : []
          if (known.length === 0) return yield* unknownCursor
        }
        const owner = yield* ownerOf(filter)
        if (owner === null) return { data: [], hasMore: false, next: null }
        return pageOf(yield* rowsOf(Row)(repeatable(newest(filter, owner, page))), page.limit)
      }),
      find: Effect.fn("OrderLists.find")(function* ({ organizationId, memberId }, id) {
        const [order] = isOrderId(id)
          ? yield* rowsOf(ListedOrder)(
              repeatable(sql`
                SELECT ${sql.literal(orderColumns)}
                  FROM orders o
                  LEFT JOIN tasks t ON t.organization_id = o.organization_id AND t.id = o.id
                  LEFT JOIN orphans p ON p.organization_id = o.organization_id AND p.order_id = o.id
                 WHERE o.organization_id = ${organizationId} AND o.id = ${id}
                   AND o.member_id = ${memberId}`)
            )
          : []
        return order ?? (yield* noSuchOrder)
      }),
      totals: Effect.fn("OrderLists.totals")((filter) =>
        Effect.map(rowOf(OrderTotals)(repeatable(totalsOf(filter))), (totals) =>
          totalsOfState(totals, filter.state)
        )
      )
    })
  })
)
