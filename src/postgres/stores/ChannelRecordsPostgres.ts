/** Records of channels in PostgreSQL: cooldowns, counts of calls and failures. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type CallEnds,
  ChannelCount,
  ChannelFailure,
  ChannelRecords,
  Cooldown,
  type CooldownTarget,
  TRIAL_HEAD_START_SECONDS,
  TRIAL_SECONDS,
  WINDOW_SECONDS
} from "../../services/channels/ChannelRecords.ts"
import { columnsOf, rowsOf, runOnce, withStatementTimeout } from "../client/rows.ts"

const OpenTasksRow = Schema.Struct({ channelId: Schema.String, tasks: Schema.Int })

const FailedTrialRow = Schema.Struct({ isLonger: Schema.Boolean })

const CallEndsRow = Schema.Struct({
  channelId: Schema.String,
  model: Schema.String,
  organizationId: Schema.String,
  succeeded: Schema.Int,
  failed: Schema.Int
})

const cooldownColumns = columnsOf(Cooldown, "r", {
  keyName: "nullif(r.key_name, '')",
  model: "nullif(r.model, '')",
  organizationId: "nullif(r.organization_id, '')",
  secondsLeft: "greatest(0, extract(epoch FROM r.until - now()))::float8"
})

export const layerChannelRecords = Layer.effect(
  ChannelRecords,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** The length of a cooldown that begins, in the row of the one before it. */
    const nextSeconds = (most: number) => sql`
      CASE WHEN r.until IS NULL THEN excluded.seconds ELSE least(r.seconds * 2, ${most}::float8) END`

    const isInScope = ({ channelId, keyName, model, organizationId }: CooldownTarget) =>
      sql`channel_id = ${channelId} AND key_name = ${keyName ?? ""}
          AND model = ${model ?? ""} AND organization_id = ${organizationId ?? ""}`

    const addCounts = (counts: ReadonlyArray<ChannelCount>) => {
      const texts = (of: (count: ChannelCount) => string) => sql`${counts.map(of)}::text[]`
      // Every gateway inserts the rows in the same order, so that two gateways cannot deadlock.
      return sql`
        INSERT INTO channel_counts AS c (channel_id, slot, name, count)
        SELECT i.channel_id, date_bin('10 seconds', now(), 'epoch'), i.name, i.count::float8
          FROM unnest(${texts(({ channelId }) => channelId)}, ${texts(({ name }) => name)},
                      ${texts(({ count }) => String(count))}) AS i(channel_id, name, count)
         ORDER BY 1, 3
        ON CONFLICT (channel_id, slot, name) DO UPDATE SET count = c.count + excluded.count`
    }

    const storeFailure = ({ channelId, at, reason, status, message }: ChannelFailure) => sql`
      INSERT INTO channel_failures AS f (channel_id, at, reason, status, message)
      VALUES (${channelId}, ${at}, ${reason}, ${status}, ${message})
      ON CONFLICT (channel_id) DO UPDATE
         SET at = excluded.at, reason = excluded.reason, status = excluded.status,
             message = excluded.message
       WHERE f.at < excluded.at`

    const addEnds = (ends: ReadonlyArray<CallEnds>) => {
      const texts = (of: (one: CallEnds) => string) => sql`${ends.map(of)}::text[]`
      return sql`
        INSERT INTO call_ends AS e (channel_id, model, organization_id, slot, made, failed)
        SELECT i.channel_id, i.model, i.organization_id, date_bin('10 seconds', now(), 'epoch'),
               i.made::bigint, i.failed::bigint
          FROM unnest(${texts(({ channelId }) => channelId)}, ${texts(({ model }) => model)},
                      ${texts(({ organizationId }) => organizationId)},
                      ${texts(({ succeeded }) => String(succeeded))},
                      ${texts(({ failed }) => String(failed))})
               AS i(channel_id, model, organization_id, made, failed)
         ORDER BY 1, 2, 3
        ON CONFLICT (channel_id, slot, model, organization_id) DO UPDATE
           SET made = e.made + excluded.made, failed = e.failed + excluded.failed`
    }

    const add: ChannelRecords["Service"]["add"] = Effect.fnUntraced(function* ({
      counts,
      ends,
      failures
    }) {
      // A failure is stored before it is counted, so that readers of a count find its failure.
      for (const failure of failures) yield* runOnce(storeFailure(failure))
      yield* runOnce(addCounts(counts))
      if (ends.length > 0) yield* runOnce(addEnds(ends))
      yield* runOnce(sql`DELETE FROM channel_counts WHERE slot < now() - interval '1 hour'`)
      yield* runOnce(sql`DELETE FROM call_ends WHERE slot < now() - interval '2 minutes'`)
      // Only old cooldowns that concern a single organisation are deleted; those that concern all
      // organisations are kept for the operators.
      yield* runOnce(sql`
        DELETE FROM rests
         WHERE organization_id <> '' AND (until IS NULL OR NOT is_alone)
           AND coalesce(until, ended_at) < now() - interval '1 hour'`)
    })

    // On a cluster, `DO UPDATE` calls only functions whose results depend on their arguments alone:
    // `excluded.since` is the current time, and the end is computed from its seconds, since a sum
    // of a time and an interval depends on the session's time zone.
    const beginCooldown: ChannelRecords["Service"]["beginCooldown"] = (
      { channelId, keyName, model, organizationId },
      { reason, status, isAlone },
      { min: least, max: most }
    ) =>
      Effect.asVoid(
        runOnce(sql`
          INSERT INTO rests AS r (channel_id, key_name, model, organization_id, is_alone,
                                  until, seconds, since, reason, status)
          VALUES (${channelId}, ${keyName ?? ""}, ${model ?? ""}, ${organizationId ?? ""},
                  ${isAlone}, now() + make_interval(secs => ${least}), ${least}, now(), ${reason},
                  ${status})
          ON CONFLICT (channel_id, key_name, model, organization_id) DO UPDATE
             SET seconds = ${nextSeconds(most)},
                 until = to_timestamp(
                   extract(epoch FROM excluded.since - to_timestamp(0))::float8 + ${nextSeconds(most)}),
                 since = CASE WHEN r.until IS NULL THEN excluded.since ELSE r.since END,
                 is_alone = CASE WHEN r.until IS NULL THEN excluded.is_alone ELSE r.is_alone END,
                 tried_until = NULL, tried_by = NULL, failed_by = NULL, ended_at = NULL,
                 reason = excluded.reason, status = excluded.status
           WHERE r.until IS NULL OR r.until <= excluded.since`)
      )

    return ChannelRecords.of({
      add,
      latestEnds: (channelIds) =>
        rowsOf(CallEndsRow)(
          withStatementTimeout(sql`
            SELECT e.channel_id AS "channelId", e.model, e.organization_id AS "organizationId",
                   sum(e.made)::int AS succeeded, sum(e.failed)::int AS failed
              FROM call_ends e
             WHERE e.channel_id = ANY (${channelIds}::text[])
               AND e.slot > now() - make_interval(secs => ${WINDOW_SECONDS})
               AND NOT EXISTS (
                 SELECT FROM rests r
                  WHERE r.channel_id = e.channel_id AND r.key_name = ''
                    AND r.model IN ('', e.model) AND r.organization_id IN ('', e.organization_id)
                    AND r.ended_at > e.slot)
             GROUP BY e.channel_id, e.model, e.organization_id`)
        ),
      cooldowns: rowsOf(Cooldown)(
        withStatementTimeout(
          sql`SELECT ${sql.literal(cooldownColumns)} FROM rests r WHERE r.until IS NOT NULL`
        )
      ),
      beginCooldown,
      takeTrial: (scope, by) =>
        Effect.map(
          runOnce(sql`
            UPDATE rests
               SET tried_until = now() + make_interval(secs => ${TRIAL_SECONDS}), tried_by = ${by}::text
             WHERE ${isInScope(scope)} AND until <= now()
               AND (tried_until IS NULL OR tried_until <= now()
                    OR tried_by <> ${by}::text AND tried_until <= now() + make_interval(
                         secs => ${TRIAL_SECONDS - TRIAL_HEAD_START_SECONDS}))
            RETURNING channel_id`),
          (rows) => rows.length > 0
        ),
      failTrial: (scope, by, maxSeconds) =>
        Effect.map(
          rowsOf(FailedTrialRow)(
            withStatementTimeout(sql`
              UPDATE rests r
                 SET seconds = CASE WHEN t.is_longer THEN t.longer ELSE r.seconds END,
                     until = CASE WHEN t.is_longer THEN t.later ELSE r.until END,
                     failed_by = CASE WHEN t.is_longer THEN NULL ELSE ${by}::text END,
                     tried_until = NULL, tried_by = NULL
                FROM (SELECT coalesce(failed_by <> ${by}::text, false) AS is_longer,
                             least(seconds * 2, ${maxSeconds}::float8) AS longer,
                             now() + make_interval(
                               secs => least(seconds * 2, ${maxSeconds}::float8)) AS later
                        FROM rests WHERE ${isInScope(scope)} FOR UPDATE) t
               WHERE ${isInScope(scope)} AND r.until <= now()
              RETURNING t.is_longer AS "isLonger"`)
          ),
          (rows) => rows.some(({ isLonger }) => isLonger)
        ),
      giveTrialBack: (scope) =>
        Effect.asVoid(
          runOnce(
            sql`UPDATE rests SET tried_until = NULL, tried_by = NULL WHERE ${isInScope(scope)}`
          )
        ),
      endCooldown: (scope) =>
        Effect.asVoid(
          runOnce(sql`
            UPDATE rests
               SET until = NULL, tried_until = NULL, tried_by = NULL, failed_by = NULL,
                   ended_at = now()
             WHERE ${isInScope(scope)} AND until IS NOT NULL`)
        ),
      contradict: (scope) =>
        Effect.asVoid(
          runOnce(sql`UPDATE rests SET is_alone = false WHERE ${isInScope(scope)} AND is_alone`)
        ),
      hour: Effect.gen(function* () {
        const counts = yield* rowsOf(ChannelCount)(
          withStatementTimeout(sql`
            SELECT channel_id AS "channelId", name, sum(count) AS count FROM channel_counts
             WHERE slot > now() - interval '1 hour' GROUP BY channel_id, name`)
        )
        const failures = yield* rowsOf(ChannelFailure)(
          withStatementTimeout(
            sql`SELECT ${sql.literal(columnsOf(ChannelFailure, "f"))} FROM channel_failures f`
          )
        )
        return { counts, failures }
      }),
      openTasks: Effect.map(
        rowsOf(OpenTasksRow)(
          withStatementTimeout(sql`
            SELECT channel_id AS "channelId", count(*)::int AS tasks FROM tasks
             WHERE state IN ('submitting', 'processing') GROUP BY channel_id`)
        ),
        (rows) => new Map(rows.map(({ channelId, tasks }) => [channelId, tasks]))
      )
    })
  })
)
