/** Uploaded files in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Distribution } from "../../postgres/citus/Distribution.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  decodeRows,
  readPage,
  retryBriefly,
  rowOf,
  rowsOf,
  runOnce,
  withStatementTimeout
} from "../../postgres/client/rows.ts"
import {
  ClaimedFile,
  Files,
  MediaFile,
  REMOVAL_LEASE_SECONDS,
  UPLOAD_SECONDS
} from "../../services/files/Files.ts"

const columns = columnsOf(MediaFile, "f")

const claimedColumns = columnsOf(ClaimedFile, "f")

const decodeClaims = decodeRows(ClaimedFile)

const AddedRow = Schema.Struct({ exceeded: Schema.NullOr(Schema.Literals(["files", "bytes"])) })

const ChunkRow = Schema.Struct({ bytes: Schema.Uint8Array })

export const layerFiles = Layer.effect(
  Files,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const { claimRows } = yield* Distribution
    const filesOf = rowsOf(MediaFile)

    return Files.of({
      add: Effect.fn("Files.add")(function* (file, bounds) {
        const { exceeded } = yield* rowOf(AddedRow)(
          retryBriefly(sql`
            SELECT add_file(${file.organizationId}, ${file.id}, ${file.memberId}, ${file.filename},
                            ${file.purpose}, ${file.contentType}, ${file.bytes}::int,
                            ${file.seconds}::float8, ${file.isInBucket},
                            make_interval(secs => ${file.lifetimeSeconds}::float8),
                            make_interval(secs => ${UPLOAD_SECONDS}::float8),
                            ${bounds.files}::bigint, ${bounds.bytes}::bigint) AS exceeded`)
        )
        return exceeded
      }),
      writeChunk: Effect.fn("Files.writeChunk")((organizationId, id, n, bytes) =>
        Effect.asVoid(
          runOnce(sql`
            INSERT INTO file_chunks (organization_id, file_id, n, bytes)
            SELECT f.organization_id, f.id, ${n}::int, ${bytes}::bytea FROM files f
             WHERE f.organization_id = ${organizationId} AND f.id = ${id} AND f.state = 'pending'`)
        )
      ),
      completeUpload: Effect.fn("Files.completeUpload")(function* (organizationId, id, sha256) {
        // The state may be `kept` already: then the statement is a repeat after a lost answer.
        const [file] = yield* filesOf(
          retryBriefly(sql`
            UPDATE files f SET state = 'kept', due_at = f.expires_at, sha256 = ${sha256}
             WHERE f.organization_id = ${organizationId} AND f.id = ${id}
               AND f.state IN ('pending', 'kept')
            RETURNING ${sql.literal(columns)}`)
        )
        return file ?? null
      }),
      find: Effect.fn("Files.find")((organizationId, ids) =>
        filesOf(
          retryBriefly(sql`
            SELECT ${sql.literal(columns)} FROM files f
             WHERE f.organization_id = ${organizationId} AND f.id = ANY (${[...ids]}::text[])
               AND f.state = 'kept' AND f.expires_at > now()`)
        )
      ),
      list: Effect.fn("Files.list")((organizationId, purpose, page) => {
        const isListed = sql`
          f.organization_id = ${organizationId} AND f.state = 'kept' AND f.expires_at > now()`
        return readPage(MediaFile, page, {
          isEntry: (after) => sql`SELECT 1 FROM files f WHERE ${isListed} AND f.id = ${after}`,
          newest: sql`
            SELECT ${sql.literal(columns)} FROM files f
             WHERE ${isListed} AND ${equals("f.purpose", purpose)}
               AND ${isAfterCursor("f.id", page.after)}
             ORDER BY f.id DESC LIMIT ${page.limit + 1}`
        })
      }),
      readChunk: Effect.fn("Files.readChunk")(function* (organizationId, id, n) {
        const [row] = yield* rowsOf(ChunkRow)(
          retryBriefly(sql`
            SELECT bytes FROM file_chunks
             WHERE organization_id = ${organizationId} AND file_id = ${id} AND n = ${n}::int`)
        )
        return row?.bytes ?? null
      }),
      remove: Effect.fn("Files.remove")((organizationId, id) =>
        Effect.map(
          runOnce(sql`
            UPDATE files SET state = 'removing', due_at = now()
             WHERE organization_id = ${organizationId} AND id = ${id}
               AND state = 'kept' AND expires_at > now()
            RETURNING id`),
          (rows) => rows.length > 0
        )
      ),
      abandonUpload: Effect.fn("Files.abandonUpload")((organizationId, id) =>
        Effect.asVoid(
          runOnce(sql`
            UPDATE files SET state = 'removing', due_at = now()
             WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'pending'`)
        )
      ),
      claimRemovals: (limit) =>
        Effect.orDie(
          claimRows({
            due: sql`files WHERE due_at <= now()`,
            limit,
            claim: (route, rest, _: ReadonlyArray<ClaimedFile>) =>
              decodeClaims(
                withStatementTimeout(sql`
                  UPDATE files f
                     SET state = 'removing', lease = f.lease + 1,
                         due_at = now() + make_interval(secs => ${REMOVAL_LEASE_SECONDS}::float8)
                    FROM (SELECT d.organization_id, d.id FROM files d
                           WHERE d.due_at <= now() AND ${equals("d.organization_id", route)}
                           ORDER BY d.due_at LIMIT ${rest} FOR UPDATE SKIP LOCKED) due
                   WHERE f.organization_id = due.organization_id AND f.id = due.id
                     AND ${equals("f.organization_id", route)}
                  RETURNING ${sql.literal(claimedColumns)}`)
              )
          })
        ),
      completeRemoval: ({ organizationId, id, lease }) =>
        Effect.asVoid(
          runOnce(sql`
            DELETE FROM files
             WHERE organization_id = ${organizationId} AND id = ${id}
               AND state = 'removing' AND lease = ${lease}::bigint`)
        )
    })
  })
)
