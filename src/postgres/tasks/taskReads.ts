/** Reads of tasks: single tasks in batches, lists, and recent durations. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { TaskNotFound } from "../../domain/Errors.ts"
import { orderPrefixes, taskKindOf } from "../../domain/orderIds.ts"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import { Completion, ListedTask, Task, type TaskRepo } from "../../services/TaskRepo.ts"
import { Distribution } from "../citus/Distribution.ts"
import { makeConditions } from "../client/conditions.ts"
import {
  CLIENT_TIMEOUT,
  columnsOf,
  decodeRows,
  readPage,
  retryBriefly,
  rowsOf,
  secondsSince,
  timeoutError,
  withTimeout
} from "../client/rows.ts"
import { startOf } from "./taskSnapshot.ts"

/** The model, duration and resolution of a video task, read from its summary. */
const KIND = `CASE WHEN summary ?& ARRAY['seconds', 'billedResolution'] THEN jsonb_build_object(
  'model', model, 'seconds', summary -> 'seconds', 'resolution', summary -> 'billedResolution') END`

const taskColumns = columnsOf(Task, "d", {
  finished: "d.finished_at IS NOT NULL",
  ageSeconds: secondsSince(startOf("d")),
  sincePollSeconds: secondsSince("d.asked_at"),
  kind: KIND,
  ratio: "d.summary ->> 'ratio'",
  size: "d.summary ->> 'size'",
  source: "d.summary -> 'source'"
})

interface TaskKey {
  readonly organizationId: string
  readonly id: string
}

const textOfKey = ({ organizationId, id }: TaskKey): string => `${organizationId} ${id}`

/** The maximum number of tasks that one statement reads. */
const MAX_READS = 200
/**
 * The number of concurrent statements; with more than one, a statement that hangs does not block
 * every reader.
 */
const LANES = 2

export const makeFindTask = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const decode = decodeRows(Task)
  const { isDistributed, batchOptions, routeOf } = yield* Distribution
  const { equals } = makeConditions(sql)

  /**
   * Returns the tasks in the order of the keys. Each row is looked up by its primary key, even if
   * the statistics are stale.
   */
  const findAll = Effect.fnUntraced(function* (keys: ReadonlyArray<TaskKey>) {
    const distinct = [...new Map(keys.map((key) => [textOfKey(key), key])).values()]
    const route = routeOf(keys[0]?.organizationId ?? "")
    const rows = yield* decode(sql`
      SELECT t.*
        FROM unnest(${distinct.map(({ organizationId }) => organizationId)}::text[],
                    ${distinct.map(({ id }) => id)}::text[]) AS i(organization_id, id)
       CROSS JOIN LATERAL
         (SELECT ${sql.literal(taskColumns)} FROM tasks d
           WHERE d.organization_id = i.organization_id AND d.id = i.id
             AND d.erased_at IS NULL AND ${equals("d.organization_id", route)} OFFSET 0) t`)
    const tasks = new Map(rows.map((task) => [textOfKey(task), task]))
    return keys.map((key) => tasks.get(textOfKey(key)) ?? null)
  })

  const reads = yield* makeMicroBatch({
    maxItems: MAX_READS,
    run: (keys: ReadonlyArray<TaskKey>) => withTimeout(CLIENT_TIMEOUT)(findAll(keys)),
    isTransient,
    concurrency: LANES,
    ...batchOptions,
    patienceMillis: Duration.toMillis(CLIENT_TIMEOUT)
  })
  let turn = 0

  return Effect.fnUntraced(function* (organizationId: string, id: string) {
    turn = (turn + 1) % LANES
    const task =
      taskKindOf(id) !== null
        ? yield* reads
            .attempt(isDistributed ? organizationId : String(turn), { organizationId, id })
            .pipe(Effect.catchTag("BatchTimeout", () => Effect.die(timeoutError(CLIENT_TIMEOUT))))
        : null
    return task ?? (yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` }))
  })
})

/** Ids begin with their time, so their index finds the newest tasks without reading other rows. */
export const makeRecentCompletions = (sql: SqlClient.SqlClient) =>
  Effect.fn("TaskRepo.recentCompletions")((newest: number) =>
    rowsOf(Completion)(
      retryBriefly(sql`
        SELECT kind, ${sql.literal(secondsSince("began_at", "finished_at"))} AS "tookSeconds"
          FROM (SELECT ${sql.literal(KIND)} AS kind, state, ${sql.literal(startOf("d"))} AS began_at,
                       finished_at
                  FROM tasks d ORDER BY id DESC LIMIT ${newest}) newest
         WHERE state = 'succeeded' AND kind IS NOT NULL ORDER BY finished_at`)
    )
  )

const listedColumns = `${taskColumns}, d.created_at AS "createdAt"`

/** A text that sorts after every id with the prefix and its underscore, in the collation "C". */
const afterPrefix = (prefix: string): string => `${prefix}\``

export const makeListTasks =
  (sql: SqlClient.SqlClient): TaskRepo["Service"]["list"] =>
  ({ organizationId, memberId }, filter, page) => {
    const { kind, states, model, createdAfter } = filter
    const isListed = sql`d.organization_id = ${organizationId} AND d.member_id = ${memberId}
                    AND d.erased_at IS NULL`
    const prefix = orderPrefixes[kind]
    const first = `${prefix}_`
    const last = afterPrefix(prefix)
    const [from, to] =
      filter.order === "desc" ? [first, page.after ?? last] : [page.after ?? first, last]
    return readPage(ListedTask, page, {
      isEntry: (after) =>
        taskKindOf(after) === kind
          ? sql`SELECT 1 FROM tasks d WHERE ${isListed} AND d.id = ${after}`
          : Effect.succeed([]),
      newest: sql`
        SELECT ${sql.literal(listedColumns)} FROM tasks d
         WHERE ${isListed} AND d.id > ${from} AND d.id < ${to}
           AND d.state = ANY (${states}::text[])
           AND ${model === null ? sql`true` : sql`d.model = ${model}`}
           AND ${createdAfter === null ? sql`true` : sql`date_trunc('milliseconds', d.created_at) > ${createdAfter}`}
         ORDER BY d.id ${sql.literal(filter.order === "desc" ? "DESC" : "ASC")}
         LIMIT ${page.limit + 1}`
    })
  }
