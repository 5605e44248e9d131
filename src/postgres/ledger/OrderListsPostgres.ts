/**
 * Lists of orders in PostgreSQL. Each is read along an index whose ids stand in order of time, kind by
 * kind, and what no index serves is told apart on the way: of each kind a page looks at so many rows,
 * and no more.
 */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isOrderId, mintedAt, uuidBeginning } from "../../domain/orderIds.ts"
import { type PageRequest, unknownCursor } from "../../runtime/Page.ts"
import {
  ListedOrder,
  type OrderFilter,
  OrderLists,
  type OrderPage,
  type OrderSumFilter,
  OrderTotals,
  totalsOfState
} from "../../services/operators/OrderLists.ts"
import { CLOCKS_APART_MILLIS, columnsOf, repeatable, rowOf, rowsOf } from "../client/rows.ts"
import { orderKinds } from "./journal.ts"

/** Rows of one kind that a page looks at. */
const LOOKED_AT = 2000

/** An id is minted before its order waits for its place and its commit. */
const LONGEST_WAIT_MILLIS = 600_000
/** Before and after it was minted: most orders stand in the first. */
const WINDOWS_MILLIS = [
  [1000, 5000],
  [CLOCKS_APART_MILLIS, LONGEST_WAIT_MILLIS]
] as const

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
  askedAt: "t.asked_at",
  nextPollAt: "t.next_poll_at"
})

const Row = Schema.Struct({
  ...ListedOrder.fields,
  kind: Schema.String,
  /** Greater than that of every order that stands behind it. */
  place: Schema.String,
  /** Which of the rows that were looked at, from 1. */
  nth: Schema.Int,
  isWanted: Schema.Boolean
})
type Row = typeof Row.Type

const Owner = Schema.Struct({
  organizationId: Schema.NullOr(Schema.String),
  memberId: Schema.NullOr(Schema.String)
})
type Owner = typeof Owner.Type

/** To the microsecond. */
const Created = Schema.Struct({ at: Schema.String })

/** Text in the order of time. */
const CREATED_PLACE = "to_char(o.created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || f.id"

const isOfTasks = ({ upstreamId, tasksOnly, taskState }: OrderFilter): boolean =>
  upstreamId !== null || tasksOnly || taskState !== null

/** Of each kind the rows come up to a place, and a page ends where the first of the kinds does. */
const pageOf = (rows: ReadonlyArray<Row>, limit: number): OrderPage => {
  const [end] = [...Map.groupBy(rows, ({ kind }) => kind).values()]
    .flatMap((ofKind) => {
      const last = ofKind.at(-1)
      return last !== undefined && (ofKind.length > limit || last.nth === LOOKED_AT) ? [last] : []
    })
    .toSorted((one, other) => (one.place < other.place ? 1 : -1))
  const wanted = rows.filter(
    ({ isWanted, place }) => isWanted && (end === undefined || place >= end.place)
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

    /** An order of all organisations, looked for where its id says that it was ordered. */
    const createdAtOf = Effect.fnUntraced(function* (id: string) {
      for (const [before, after] of WINDOWS_MILLIS) {
        const [from, to] = [new Date(mintedAt(id) - before), new Date(mintedAt(id) + after)]
        const [row] = yield* rowsOf(Created)(
          repeatable(sql`SELECT created_at::text AS at FROM orders
                          WHERE created_at >= ${from} AND created_at < ${to} AND id = ${id}`)
        )
        if (row !== undefined) return row.at
      }
      return yield* unknownCursor
    })

    /** What leads through all orders: when they were made, and their ids where that is the same. */
    const byTime = Effect.fnUntraced(function* ({ from, to }: OrderFilter, after: string | null) {
      const at = after === null ? null : yield* createdAtOf(after)
      return {
        ...{ table: "orders w", kinds: "(VALUES ('')) AS kinds (prefix)" },
        ...{ id: "w.id", order: ["created_at", "id"], place: CREATED_PLACE },
        such: sql`
          ${from === null ? sql`true` : sql`w.created_at >= ${from}`}
          AND ${to === null ? sql`true` : sql`w.created_at < ${to}`}
          AND ${
            at === null
              ? sql`true`
              : sql`w.created_at <= ${at}::timestamptz
                    AND (w.created_at, w.id) < (${at}::timestamptz, ${after})`
          }`
      }
    })

    /** What leads through orders of one organisation, through tasks, and to what carries a tag. */
    const byId = Effect.fnUntraced(function* (
      filter: OrderFilter,
      owner: Owner,
      after: string | null
    ) {
      const { upstreamId, tag, from, to } = filter
      const { organizationId, memberId } = owner
      if (after !== null && organizationId === null) yield* createdAtOf(after)
      if (after !== null && organizationId !== null) {
        const own = sql`organization_id = ${organizationId} AND id = ${after}`
        const known = yield* repeatable(sql`SELECT 1 FROM orders WHERE ${own}`)
        if (known.length === 0) return yield* unknownCursor
      }
      const tagged = upstreamId === null && organizationId !== null ? tag : null
      const id = tagged === null ? "w.id" : "w.order_id"
      const at = (time: Date | null, shift: number) =>
        time === null ? [] : [uuidBeginning(new Date(time.getTime() + shift))]
      const cursor = after === null ? [] : [after.slice(after.indexOf("_") + 1)]
      const [first = ""] = at(from, -LONGEST_WAIT_MILLIS)
      const [last = "~"] = [...cursor, ...at(to, CLOCKS_APART_MILLIS)].toSorted()
      return {
        table: tagged !== null ? "order_tags w" : isOfTasks(filter) ? "tasks w" : "orders w",
        ...{ kinds: orderKinds, id, order: ["id"], place: "substr(f.id, length(f.prefix) + 1)" },
        such: sql`
          ${only("w.organization_id", organizationId)}
          AND ${
            tagged === null
              ? only("w.member_id", memberId)
              : sql`w.name = ${tagged.name} AND w.value = ${tagged.value}`
          }
          AND ${only("w.upstream_id", upstreamId)}
          AND ${sql.literal(id)} >= prefix || ${first}::text
          AND ${sql.literal(id)} < prefix || ${last}::text`
      }
    })

    const isOf = (table: string, { memberId, keyId, model, modality }: OrderSumFilter) => sql`
      ${only(`${table}.member_id`, memberId)} AND ${only(`${table}.key_id`, keyId)}
      AND ${only(`${table}.model`, model)} AND ${only(`${table}.modality`, modality)}`
    const within = (time: string, { from, to }: OrderSumFilter) => sql`
      ${from === null ? sql`true` : sql`${sql.literal(time)} >= ${from}`}
      AND ${to === null ? sql`true` : sql`${sql.literal(time)} < ${to}`}`

    const isWanted = (filter: OrderFilter) => sql`(
      ${isOf("o", filter)} AND ${within("o.created_at", filter)}
      AND ${only("o.job ->> 'channelId'", filter.channelId)} AND ${only("o.state", filter.state)}
      AND ${only("t.state", filter.taskState)}
      AND ${filter.tag === null ? sql`true` : sql`o.metadata ->> ${filter.tag.name} = ${filter.tag.value}`}
      AND ${filter.tasksOnly ? sql`o.is_task` : sql`true`})`

    const newest = Effect.fnUntraced(function* (
      filter: OrderFilter,
      owner: Owner,
      { after, limit }: PageRequest
    ) {
      const isOfAll = owner.organizationId === null && !isOfTasks(filter)
      const way = yield* isOfAll ? byTime(filter, after) : byId(filter, owner, after)
      const [kinds, table, place] = [way.kinds, way.table, way.place].map((text) =>
        sql.literal(text)
      )
      const order = (of: string) =>
        sql.literal(way.order.map((column) => `${of}${column} DESC`).join(", "))
      return sql`
        SELECT ${sql.literal(orderColumns)}, f.prefix AS kind, f.nth, f.is_wanted AS "isWanted",
               ${place} AS place
          FROM (
            SELECT kinds.prefix, looked.*
              FROM ${kinds}
             CROSS JOIN LATERAL (
               SELECT n.id, n.organization_id, n.nth, ${isWanted(filter)} AS is_wanted
                 FROM (SELECT w.*, row_number() OVER (ORDER BY ${order("w.")})::int AS nth
                         FROM (SELECT w.organization_id, ${sql.literal(way.id)} AS id,
                                      ${isOfAll ? sql`w.created_at` : sql`NULL AS created_at`}
                                 FROM ${table} WHERE ${way.such}) w
                        ORDER BY ${order("w.")} LIMIT ${LOOKED_AT}) n
                CROSS JOIN LATERAL (SELECT * FROM orders
                                     WHERE organization_id = n.organization_id AND id = n.id OFFSET 0) o
                 LEFT JOIN LATERAL (SELECT state FROM tasks
                                     WHERE organization_id = n.organization_id AND id = n.id OFFSET 0) t
                   ON ${filter.taskState === null ? sql`false` : sql`true`}
                WHERE ${isWanted(filter)} OR n.nth = ${LOOKED_AT}
                ORDER BY ${order("n.")} LIMIT ${limit + 1}) looked) f
         CROSS JOIN LATERAL (SELECT * FROM orders
                              WHERE organization_id = f.organization_id AND id = f.id OFFSET 0) o
          LEFT JOIN LATERAL (SELECT * FROM tasks
                              WHERE organization_id = f.organization_id AND id = f.id OFFSET 0) t ON true
          LEFT JOIN LATERAL (SELECT upstream_id FROM orphans
                              WHERE organization_id = f.organization_id AND order_id = f.id OFFSET 0) p
            ON true
         ORDER BY place DESC`
    })

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
            SELECT coalesce(sum(s.count), 0)::int AS succeeded,
                   coalesce(sum(s.failed), 0)::int AS failed,
                   coalesce(sum(s.charge), 0)::text AS "chargeNano",
                   coalesce(sum(s.returned), 0)::text AS "returnedNano",
                   coalesce(sum(s.cost), 0)::text AS "costNano",
                   coalesce(sum(s.without_cost), 0)::int AS "withoutCost"
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
        if (page.after !== null && !isOrderId(page.after)) return yield* unknownCursor
        const owner = yield* ownerOf(filter)
        if (owner === null) return { data: [], hasMore: false, next: null }
        const rows = yield* rowsOf(Row)(repeatable(yield* newest(filter, owner, page)))
        return pageOf(rows, page.limit)
      }),
      totals: Effect.fn("OrderLists.totals")((filter) =>
        Effect.map(rowOf(OrderTotals)(repeatable(totalsOf(filter))), (totals) =>
          totalsOfState(totals, filter.state)
        )
      )
    })
  })
)
