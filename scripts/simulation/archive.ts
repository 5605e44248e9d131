/** What the archive has of the results in the end, and after some of their tasks are deleted. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../src/postgres/client/rows.ts"
import { ArchivedFile, keyPrefixOf, objectKeyOf } from "../../src/services/results/ArchiveBucket.ts"
import { COPY_LEASE_SECONDS } from "../../src/services/results/Archives.ts"
import type { Operator } from "../chaos/customers.ts"
import { send } from "../chaos/http.ts"
import { open } from "../chaos/judges/verdict.ts"
import type { BucketServer } from "./bucket.ts"
import type { Generator } from "./generator.ts"
import { time } from "./realm.ts"

const LOOK = "2 seconds"
const MOST_LOOKS = 200
const DELETE_PROBABILITY = 0.4

const Row = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  state: Schema.Literals(["waiting", "kept", "failed", "removing"]),
  files: Schema.NullOr(Schema.Array(ArchivedFile)),
  /** Seconds until the next try, or the end of the claim; zero where it has ended. */
  dueSeconds: Schema.Number
})
type Row = typeof Row.Type

const prefixOf = ({ organizationId, taskId }: Row): string => keyPrefixOf(organizationId, taskId)
const hasEnded = (state: Row["state"]): boolean => state === "kept" || state === "failed"

/** A gateway renews its claim after a third of it. */
const mayBeClaimed = (seconds: number): boolean =>
  COPY_LEASE_SECONDS / 2 < seconds && seconds <= COPY_LEASE_SECONDS

const readRows = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  rowsOf(Row)(sql`
    SELECT organization_id AS "organizationId", task_id AS "taskId", state, files,
           coalesce(extract(epoch FROM next_try_at - now()), 0)::float8 AS "dueSeconds"
      FROM archives ORDER BY task_id`)
)

/**
 * The records when every copy and every removal has ended. Those that are not due yet become due at
 * once, unless a gateway may still be at work on one.
 */
const awaitRows = Effect.gen(function* () {
  for (let looks = 0; ; looks += 1) {
    const rows = yield* readRows
    const seconds = rows.filter(({ state }) => !hasEnded(state)).map(({ dueSeconds }) => dueSeconds)
    if (seconds.length === 0 || looks === MOST_LOOKS) return rows
    if (!seconds.some(mayBeClaimed)) time.jump(Math.max(0, Math.ceil(Math.min(...seconds) * 1000)))
    yield* Effect.sleep(LOOK)
  }
})

export const judgeArchive = Effect.fnUntraced(function* (
  bucket: BucketServer,
  { gatewayUrl, adminToken }: Operator,
  dice: Generator
) {
  const kept = open("A1", "the archive has each result that it keeps, as it was recorded")
  const rest = open("A2", "the archive has nothing of tasks that were deleted or have no result")

  const lookAtRow = ({ organizationId, taskId, state, files }: Row) => {
    kept.look(hasEnded(state) ? null : `${taskId} is still ${state}`)
    for (const [n, { bytes, sha256 }] of (files ?? []).entries()) {
      const file = bucket.files.get(objectKeyOf(organizationId, taskId, n))
      const isSame = file?.bytes === bytes && file.sha256 === sha256
      kept.look(isSame ? null : `file ${n} of ${taskId} is not in the bucket as it was recorded`)
    }
  }

  // Some are still being copied.
  const deleted = (yield* readRows).filter(() => dice.isHit(DELETE_PROBABILITY))
  for (const { taskId } of deleted) {
    const { status, text } = yield* send(`${gatewayUrl}/admin/v1/tasks/${taskId}`, {
      key: adminToken,
      method: "DELETE"
    })
    kept.look(status === 200 ? null : `the delete of ${taskId} is answered ${status}: ${text}`)
  }
  const rows = yield* awaitRows
  rows.forEach(lookAtRow)
  const prefixes = new Set(rows.map(prefixOf))
  for (const row of deleted) prefixes.delete(prefixOf(row))
  rest.look(null)
  for (const key of bucket.files.keys()) {
    const isKept = prefixes.has(key.slice(0, key.lastIndexOf("/") + 1))
    rest.look(isKept ? null : `${key} is in the bucket`)
  }
  return [kept.verdict, rest.verdict]
}, Effect.orDie)
