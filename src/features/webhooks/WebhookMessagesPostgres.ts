/** Messages to webhook endpoints in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { countsWith, Distribution } from "../../postgres/citus/Distribution.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  decodeRows,
  deleteInBatches,
  readPage,
  runOnce,
  withStatementTimeout
} from "../../postgres/client/rows.ts"
import { taskSnapshotOf } from "../../postgres/tasks/taskSnapshot.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  ClaimedMessage,
  Delivery,
  DeliveryAttempt,
  LEASE_MARGIN_SECONDS,
  MAX_LISTED_ATTEMPTS,
  type MessageClaims,
  noSuchDelivery,
  WebhookMessages
} from "../../services/delivery/WebhookMessages.ts"

const claimedColumns = columnsOf(ClaimedMessage, "m", {
  url: "coalesce(m.callback_url, due.url)",
  isCallback: "m.callback_url IS NOT NULL",
  isFailing: "due.failing",
  dialect: "task.dialect",
  task: "task.snapshot"
})

const deliveryColumns = columnsOf(Delivery, "m", { attempts: "coalesce(a.attempts, '[]')" })

/** A delivery with its attempts as JSON, in which times are text. */
const DeliveryRow = Schema.Struct({
  ...Delivery.fields,
  attempts: Schema.Array(Schema.Struct({ ...DeliveryAttempt.fields, at: Schema.DateFromString }))
})

const decodeMessages = decodeRows(ClaimedMessage)

const outcomes = { Delivered: "delivered", Again: "again", Failed: "failed", Gone: "gone" } as const

export const layerWebhookMessages = Layer.effect(
  WebhookMessages,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const { claimRows } = yield* Distribution
    const { webhookPatienceDays, webhookTimeoutSeconds, callLogDays } = yield* Settings
    const leaseSeconds = webhookTimeoutSeconds + LEASE_MARGIN_SECONDS

    // The statement steps from receiver to receiver through the index, and takes the first due
    // messages of each receiver. So a receiver with thousands of due messages does not slow down
    // the others.
    const claimDueOf = (route: string | null, claims: MessageClaims) =>
      decodeMessages(
        withStatementTimeout(sql`
          WITH RECURSIVE receivers AS (
            (SELECT d.receiver FROM webhook_messages d
              WHERE d.state = 'pending' AND ${equals("d.organization_id", route)}
              ORDER BY d.receiver LIMIT 1)
            UNION ALL
            (SELECT n.receiver FROM receivers r CROSS JOIN LATERAL
               (SELECT d.receiver FROM webhook_messages d
                 WHERE d.state = 'pending' AND ${equals("d.organization_id", route)}
                   AND d.receiver > r.receiver
                 ORDER BY d.receiver LIMIT 1) n)
          ), capacity AS (
            SELECT r.receiver, e.url, coalesce(e.failing_since IS NOT NULL, false) AS failing,
                   CASE WHEN e.disabled_at IS NOT NULL
                          OR (e.id IS NULL AND r.receiver NOT LIKE 'callback\\_%') THEN 0
                        ELSE greatest(0, least(${claims.limit}::int,
                               CASE WHEN e.failing_since IS NULL THEN ${claims.maxPerReceiver}::int
                                    ELSE 1 END - coalesce(a.attempts, 0))) END AS permits
              FROM receivers r
              LEFT JOIN webhook_endpoints e ON e.id = r.receiver
              LEFT JOIN unnest(${[...claims.runningByReceiver.keys()]}::text[],
                               ${[...claims.runningByReceiver.values()]}::int[])
                AS a(receiver, attempts) ON a.receiver = r.receiver
          ), front AS (
            SELECT q.*, r.url, r.failing,
                   row_number() OVER (PARTITION BY r.receiver ORDER BY q.next_attempt_at) AS turn
              FROM capacity r CROSS JOIN LATERAL
                (SELECT d.organization_id, d.id, d.task_id, d.next_attempt_at FROM webhook_messages d
                  WHERE d.state = 'pending' AND ${equals("d.organization_id", route)}
                    AND d.receiver = r.receiver
                    AND d.next_attempt_at <= now()
                  ORDER BY d.next_attempt_at LIMIT r.permits FOR UPDATE SKIP LOCKED) q
          ), ranked AS (
            SELECT f.*,
                   row_number() OVER (PARTITION BY f.failing ORDER BY f.turn, f.next_attempt_at)
                     AS of_kind,
                   row_number() OVER (PARTITION BY f.organization_id ORDER BY f.turn, f.next_attempt_at)
                     + coalesce(o.attempts, 0) AS of_organization
              FROM front f
              LEFT JOIN unnest(${[...claims.runningByOrganization.keys()]}::text[],
                               ${[...claims.runningByOrganization.values()]}::int[])
                AS o(organization_id, attempts) USING (organization_id)
          ), due AS (
            SELECT * FROM ranked
             WHERE (NOT failing OR of_kind <= ${claims.maxFailing})
               AND of_organization <= ${claims.maxPerOrganization}
             ORDER BY turn, next_attempt_at LIMIT ${claims.limit}
          )
          UPDATE webhook_messages m
             SET lease = m.lease + 1,
                 next_attempt_at = now() + make_interval(secs => ${leaseSeconds})
            FROM due LEFT JOIN LATERAL
              (SELECT t.dialect, ${sql.literal(taskSnapshotOf("t"))} AS snapshot FROM tasks t
                WHERE t.organization_id = due.organization_id AND t.id = due.task_id
                  AND ${equals("t.organization_id", route)} LIMIT 1) task ON true
           WHERE m.organization_id = due.organization_id AND m.id = due.id
             AND ${equals("m.organization_id", route)}
          RETURNING ${sql.literal(claimedColumns)}`)
      )

    const claimDue: WebhookMessages["Service"]["claimDue"] = (claims) =>
      Effect.orDie(
        claimRows({
          due: sql`webhook_messages WHERE state = 'pending' AND next_attempt_at <= now()
                   AND NOT EXISTS (SELECT FROM webhook_endpoints e
                                    WHERE e.id = receiver AND e.disabled_at IS NOT NULL)`,
          limit: claims.limit,
          claim: (route, limit, claimed: ReadonlyArray<ClaimedMessage>) =>
            claimDueOf(route, {
              ...claims,
              limit,
              maxFailing: claims.maxFailing - claimed.filter(({ isFailing }) => isFailing).length,
              runningByReceiver: countsWith(
                claims.runningByReceiver,
                claimed,
                ({ receiver }) => receiver
              )
            })
        })
      )

    return WebhookMessages.of({
      claimDue,
      recordAttempt: Effect.fnUntraced(function* (
        message,
        { status, durationMs, answer, error },
        end
      ) {
        yield* runOnce(sql`
          SELECT end_attempt(${message.organizationId}, ${message.id}, ${message.lease}::bigint,
            ${outcomes[end._tag]}, ${end._tag === "Again" ? end.afterSeconds : null}::float8,
            ${status}::int, ${durationMs}::int, ${answer}, ${error},
            make_interval(days => ${webhookPatienceDays}))`)
      }),
      list: Effect.fn("WebhookMessages.list")((endpointId, { state, taskId }, page) =>
        readPage(DeliveryRow, page, {
          isEntry: (after) => sql`
            SELECT 1 FROM webhook_messages WHERE endpoint_id = ${endpointId} AND id = ${after}`,
          newest: sql`
            WITH listed AS (
              SELECT * FROM webhook_messages m
               WHERE m.endpoint_id = ${endpointId}
                 AND ${isAfterCursor("m.id", page.after)}
                 AND ${equals("m.state", state)}
                 AND ${equals("m.task_id", taskId)}
               ORDER BY m.id DESC LIMIT ${page.limit + 1}
            ), numbered AS (
              SELECT w.*, row_number() OVER (PARTITION BY w.organization_id, w.message_id
                                             ORDER BY w.at DESC) AS nth
                FROM webhook_attempts w
               WHERE (w.organization_id, w.message_id) IN (SELECT organization_id, id FROM listed)
            )
            SELECT ${sql.literal(deliveryColumns)}
              FROM listed m LEFT JOIN (
                SELECT organization_id, message_id AS id,
                       jsonb_agg(jsonb_build_object(
                         'at', at, 'status', status, 'durationMs', duration_ms, 'answer', answer,
                         'error', error) ORDER BY at) AS attempts
                  FROM numbered WHERE nth <= ${MAX_LISTED_ATTEMPTS}
                 GROUP BY organization_id, message_id) a USING (organization_id, id)
             ORDER BY m.id DESC`
        })
      ),
      redeliver: Effect.fn("WebhookMessages.redeliver")(function* (endpointId, id) {
        const rows = yield* runOnce(sql`
          UPDATE webhook_messages
             SET state = 'pending', next_attempt_at = now(), tries = 0, ended_at = NULL
           WHERE endpoint_id = ${endpointId} AND id = ${id}
          RETURNING id`)
        if (rows.length === 0) return yield* noSuchDelivery(id)
      }),
      redeliverSince: Effect.fn("WebhookMessages.redeliverSince")(function* (endpointId, since) {
        const rows = yield* runOnce(sql`
          UPDATE webhook_messages
             SET state = 'pending', next_attempt_at = now(), tries = 0, ended_at = NULL
           WHERE endpoint_id = ${endpointId} AND happened_at >= ${since}
          RETURNING id`)
        return rows.length
      }),
      prune: deleteInBatches(
        (limit) => sql`
          DELETE FROM webhook_messages m
           USING (SELECT organization_id, id FROM webhook_messages
                   WHERE ended_at < now() - make_interval(secs => ${callLogDays * 86_400})
                   LIMIT ${limit}) old
           WHERE m.organization_id = old.organization_id AND m.id = old.id
          RETURNING m.id`
      )
    })
  })
)
