/** What the archive has of the results in the end, and after some of their tasks are deleted. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../src/postgres/client/rows.ts"
import { ArchivedFile, keyPrefixOf, objectKeyOf } from "../../src/services/results/ArchiveBucket.ts"
import type { Operator } from "../chaos/customers.ts"
import { send } from "../chaos/http.ts"
import { open } from "../chaos/judges/verdict.ts"
import type { BucketServer } from "./bucket.ts"
import type { Generator } from "./generator.ts"
import { time } from "./realm.ts"

/** After it every copy and every removal that failed is due again. */
const RETRY_MILLIS = 700_000
const MOST_RETRIES = 10
/** After it every gateway has begun what is due. */
const RUN = "4 seconds"
const DELETE_PROBABILITY = 0.4

const Row = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  state: Schema.Literals(["waiting", "kept", "failed", "removing"]),
  files: Schema.NullOr(Schema.Array(ArchivedFile))
})
type Row = typeof Row.Type

const prefixOf = ({ organizationId, taskId }: Row): string => keyPrefixOf(organizationId, taskId)
const hasEnded = (state: Row["state"]): boolean => state === "kept" || state === "failed"

const readRows = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  rowsOf(Row)(sql`
    SELECT organization_id AS "organizationId", task_id AS "taskId", state, files
      FROM archives ORDER BY task_id`)
)

/** Waits until no gateway sends anything to the bucket, and all that was sent is answered. */
const awaitRest = Effect.fnUntraced(function* ({ requestCount, openCount }: BucketServer) {
  for (let count = -1; count < requestCount() || openCount() > 0; ) {
    count = requestCount()
    yield* Effect.sleep(RUN)
  }
})

/** The records when every copy and every removal has ended. */
const awaitRows = Effect.fnUntraced(function* (bucket: BucketServer) {
  for (let retries = 0; ; retries += 1) {
    yield* awaitRest(bucket)
    const rows = yield* readRows
    if (rows.every(({ state }) => hasEnded(state)) || retries === MOST_RETRIES) return rows
    time.jump(RETRY_MILLIS)
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
  const rows = yield* awaitRows(bucket)
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
