/** How channels are doing, in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  ChannelCount,
  ChannelFailure,
  ChannelRecords,
  Rest,
  type Restable,
  TRIAL_SECONDS,
  WINDOW_SECONDS
} from "../../services/channels/ChannelRecords.ts"
import { bounded, columnsOf, oneTry, rowsOf } from "../client/rows.ts"

const OpenRow = Schema.Struct({ channelId: Schema.String, tasks: Schema.Int })

const restColumns = columnsOf(Rest, "r", {
  keyName: "nullif(r.key_name, '')",
  secondsLeft: "greatest(0, extract(epoch FROM r.until - now()))::float8"
})

export const layerChannelRecords = Layer.effect(
  ChannelRecords,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const countsOf = rowsOf(ChannelCount)

    const only = ({ channelId, keyName }: Restable) =>
      sql`channel_id = ${channelId} AND key_name = ${keyName ?? ""}`

    const addCounts = (counts: ReadonlyArray<ChannelCount>) => {
      const texts = (of: (count: ChannelCount) => string) => sql`${counts.map(of)}::text[]`
      // In one order at every gateway, so that two of them do not wait for each other.
      return sql`
        INSERT INTO channel_counts AS c (channel_id, slot, name, count)
        SELECT i.channel_id, date_bin('10 seconds', now(), 'epoch'), i.name, i.count::float8
          FROM unnest(${texts(({ channelId }) => channelId)}, ${texts(({ name }) => name)},
                      ${texts(({ count }) => String(count))}) AS i(channel_id, name, count)
         ORDER BY 1, 3
        ON CONFLICT (channel_id, slot, name) DO UPDATE SET count = c.count + excluded.count`
    }

    const keepFailure = ({ channelId, at, reason, status, message }: ChannelFailure) => sql`
      INSERT INTO channel_failures AS f (channel_id, at, reason, status, message)
      VALUES (${channelId}, ${at}, ${reason}, ${status}, ${message})
      ON CONFLICT (channel_id) DO UPDATE
         SET at = excluded.at, reason = excluded.reason, status = excluded.status,
             message = excluded.message
       WHERE f.at < excluded.at`

    const add: ChannelRecords["Service"]["add"] = Effect.fnUntraced(function* (counts, failures) {
      yield* bounded(addCounts(counts))
      for (const failure of failures) yield* bounded(keepFailure(failure))
      yield* bounded(sql`DELETE FROM channel_counts WHERE slot < now() - interval '1 hour'`)
      const channels = [...new Set(counts.map(({ channelId }) => channelId))]
      return yield* countsOf(
        oneTry(sql`
          SELECT c.channel_id AS "channelId", c.name, sum(c.count) AS count
            FROM channel_counts c
            LEFT JOIN rests r ON r.channel_id = c.channel_id AND r.key_name = ''
           WHERE c.channel_id = ANY (${channels}::text[])
             AND c.slot > now() - make_interval(secs => ${WINDOW_SECONDS})
             AND c.slot >= coalesce(r.ended_at, '-infinity')
           GROUP BY c.channel_id, c.name`)
      )
    })

    const beginRest: ChannelRecords["Service"]["beginRest"] = (
      { channelId, keyName },
      { reason, status },
      { least, most }
    ) =>
      Effect.asVoid(
        bounded(sql`
          INSERT INTO rests AS r (channel_id, key_name, until, seconds, since, reason, status)
          SELECT ${channelId}, ${keyName ?? ""}, now() + make_interval(secs => s.least), s.least,
                 now(), ${reason}, ${status}::int
            FROM (SELECT ${least}::float8 AS least) s
          ON CONFLICT (channel_id, key_name) DO UPDATE
             SET seconds = CASE WHEN r.until IS NULL THEN excluded.seconds
                                ELSE least(r.seconds * 2, ${most}::float8) END,
                 until = now() + make_interval(secs =>
                           CASE WHEN r.until IS NULL THEN excluded.seconds
                                ELSE least(r.seconds * 2, ${most}::float8) END),
                 since = CASE WHEN r.until IS NULL THEN now() ELSE r.since END,
                 tried_until = NULL, ended_at = NULL,
                 reason = excluded.reason, status = excluded.status
           WHERE r.until IS NULL OR r.until <= now()`)
      )

    return ChannelRecords.of({
      add,
      rests: rowsOf(Rest)(
        oneTry(sql`SELECT ${sql.literal(restColumns)} FROM rests r WHERE r.until IS NOT NULL`)
      ),
      beginRest,
      takeTrial: (of) =>
        Effect.map(
          bounded(sql`
            UPDATE rests SET tried_until = now() + make_interval(secs => ${TRIAL_SECONDS})
             WHERE ${only(of)} AND until <= now()
               AND (tried_until IS NULL OR tried_until <= now())
            RETURNING channel_id`),
          (taken) => taken.length > 0
        ),
      giveTrialBack: (of) =>
        Effect.asVoid(bounded(sql`UPDATE rests SET tried_until = NULL WHERE ${only(of)}`)),
      endRest: (of) =>
        Effect.asVoid(
          bounded(sql`
            UPDATE rests SET until = NULL, tried_until = NULL, ended_at = now()
             WHERE ${only(of)} AND until IS NOT NULL`)
        ),
      hour: Effect.gen(function* () {
        const counts = yield* countsOf(
          oneTry(sql`
            SELECT channel_id AS "channelId", name, sum(count) AS count FROM channel_counts
             WHERE slot > now() - interval '1 hour' GROUP BY channel_id, name`)
        )
        const failures = yield* rowsOf(ChannelFailure)(
          oneTry(sql`SELECT ${sql.literal(columnsOf(ChannelFailure, "f"))} FROM channel_failures f`)
        )
        return { counts, failures }
      }),
      openTasks: Effect.map(
        rowsOf(OpenRow)(
          oneTry(sql`
            SELECT channel_id AS "channelId", count(*)::int AS tasks FROM tasks
             WHERE state IN ('submitting', 'processing') GROUP BY channel_id`)
        ),
        (rows) => new Map(rows.map(({ channelId, tasks }) => [channelId, tasks]))
      )
    })
  })
)
