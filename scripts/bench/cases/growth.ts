/**
 * Fills a database as years of business would: settled images and videos of the accounts, spread
 * over twelve months, with a consistent ledger. A job is one row of the ledger.
 */
import { Console, Duration, Effect } from "effect"
import type { Books } from "../subjects/ours.ts"

const IMAGE_NANO = 200_000_000n
const NANO_PER_TOKEN = 46_000n
const HELD_TOKENS = 108_000n
const CHARGED_TOKENS = 108_900n

/**
 * An id built from the job's time and number in the form of a UUID version 7, so that ids sort by
 * time as the gateway's own ids do.
 */
const uuid = (prefix: string) =>
  `'${prefix}_' || lpad(to_hex((extract(epoch FROM j.at) * 1000)::bigint >> 16), 8, '0') || '-' ||
   lpad(to_hex((extract(epoch FROM j.at) * 1000)::bigint & 65535), 4, '0') || '-7000-8000-' ||
   lpad(to_hex(j.n), 12, '0')`

/** All jobs with account, time and id; their number `n` starts at 1. */
const jobs = (tasks: number, count: number) => `
  (SELECT j.*, CASE WHEN j.is_video THEN ${uuid("vt")} ELSE ${uuid("im")} END AS id
     FROM (SELECT n, a.organization_id, a.member_id, n <= ${tasks} AS is_video,
                  now() - interval '365 days' + interval '364 days' * ((n * 7919 % ${count})::float8 / ${count})
                    AS at
             FROM generate_series(1::bigint, ${count}) AS n
             JOIN bench_accounts a ON a.place = n % (SELECT count(*) FROM bench_accounts)) j) x`

const charge = `CASE WHEN x.is_video THEN ${CHARGED_TOKENS * NANO_PER_TOKEN} ELSE ${IMAGE_NANO} END`
const held = `CASE WHEN x.is_video THEN ${HELD_TOKENS * NANO_PER_TOKEN} ELSE ${IMAGE_NANO} END`
const month = "date_trunc('month', x.at AT TIME ZONE 'UTC')::date"

const statements = (tasks: number, count: number): ReadonlyArray<readonly [string, string]> => [
  [
    "orders",
    `INSERT INTO orders (organization_id, id, member_id, month, hold, quote, job, state, charge,
                         created_at, expires_at, closed_at, closed_by, key_id, is_task, model,
                         modality, input, output, unit, unit_price, basis)
     SELECT x.organization_id, x.id, x.member_id, ${month}, ${held},
            jsonb_build_object('kind', CASE WHEN x.is_video THEN 'token_video' ELSE 'image' END,
                               'holdNano', (${held})::text),
            '{"channelId": "standard", "protocol": "ip_a", "upstreamModel": "vendor-paint-1"}',
            'captured', ${charge}, x.at, x.at + interval '1 hour', x.at + interval '1 minute', 'poll',
            'key', x.is_video,
            CASE WHEN x.is_video THEN 'film-1' ELSE 'paint-1' END,
            CASE WHEN x.is_video THEN 'video' ELSE 'image' END, 0,
            CASE WHEN x.is_video THEN ${CHARGED_TOKENS} ELSE 1 END,
            CASE WHEN x.is_video THEN 'token' ELSE 'image' END,
            CASE WHEN x.is_video THEN ${NANO_PER_TOKEN} ELSE ${IMAGE_NANO} END, 'reported'
       FROM ${jobs(tasks, count)}`
  ],
  [
    "tasks",
    `INSERT INTO tasks (organization_id, id, member_id, model, channel_id, protocol,
                        listed_protocol, upstream_model, summary, state, upstream_id, account_version,
                        key_name, video_url,
                        completion_tokens, created_at, submit_deadline, deadline, accepted_at,
                        asked_at, lease, finished_at)
     SELECT x.organization_id, x.id, x.member_id, 'film-1', 'tasks', 'vp_a', 'vp_a',
            'vendor-film-1', '{"seconds": 5, "resolution": "720p"}', 'succeeded', 'cgt-old-' || x.n, 1, 'default',
            'http://127.0.0.1:9/videos/' || x.n || '.mp4', ${CHARGED_TOKENS}, x.at,
            x.at + interval '2 minutes', x.at + interval '1 day', x.at + interval '1 second',
            x.at + interval '1 minute', 1, x.at + interval '1 minute'
       FROM ${jobs(tasks, count)} WHERE x.is_video`
  ],
  [
    "months",
    `INSERT INTO member_months (organization_id, member_id, month, held, captured)
     SELECT organization_id, member_id, month, 0, sum(charge)::bigint FROM orders
      GROUP BY organization_id, member_id, month
     ON CONFLICT (organization_id, member_id, month) DO UPDATE
       SET captured = excluded.captured`
  ],
  [
    "usage sums",
    `SELECT sum_up('UTC', array_agg(organization_id), array_agg(id), NULL)
       FROM (SELECT organization_id, id, row_number() OVER () / 10000 AS part FROM orders) o
      GROUP BY part`
  ],
  [
    "deposits",
    `INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference)
     SELECT organization_id, 'tr_' || gen_random_uuid(), 'deposit', 'external', 'pool', sum(charge)::bigint, 'for the growth'
       FROM orders GROUP BY organization_id`
  ],
  // The results of the audits that a database of this age would have had.
  [
    "audited pools",
    `INSERT INTO ledger_audited_pools (organization_id, moved, overage, verified_at)
     SELECT organization_id,
            coalesce((SELECT sum(CASE WHEN credit = 'pool' THEN amount ELSE -amount END)
                        FROM transfers t
                       WHERE t.organization_id = o.organization_id AND created_at < now()), 0)
              - sum(charge), sum(overage), now()
       FROM orders o WHERE closed_at < now() GROUP BY organization_id
     ON CONFLICT (organization_id) DO UPDATE
       SET moved = excluded.moved, overage = excluded.overage, verified_at = now()`
  ],
  [
    "audited months",
    `INSERT INTO ledger_audited_months (organization_id, member_id, month, captured)
     SELECT organization_id, member_id, month, sum(charge) FROM orders
      WHERE closed_at < now() GROUP BY organization_id, member_id, month
     ON CONFLICT (organization_id, member_id, month) DO UPDATE SET captured = excluded.captured`
  ],
  ["audited", "UPDATE ledger_audited SET through = now()"],
  ["settled", "UPDATE orders_settled SET before = now()"]
]

export interface Growth {
  readonly tasks: number
  readonly ledgerRows: number
}

/**
 * Fills the database. Must run before any order in that database, because the monthly totals are
 * computed from the orders.
 */
export const fill = Effect.fnUntraced(function* ({ sql, accounts }: Books, growth: Growth) {
  const count = Math.max(growth.tasks, growth.ledgerRows)
  yield* sql`CREATE TEMPORARY TABLE bench_accounts (place int, organization_id text, member_id text)`
  yield* Effect.forEach(
    accounts,
    ({ organizationId, memberId }, place) =>
      sql`INSERT INTO bench_accounts VALUES (${place}, ${organizationId}, ${memberId})`
  )
  // One transaction, so that `now()` is the same for all rows of a job.
  yield* sql.withTransaction(
    Effect.forEach(statements(growth.tasks, count), ([name, statement]) =>
      Effect.flatMap(Effect.timed(sql.unsafe(statement)), ([took]) =>
        Console.error(`filled ${name} in ${Duration.toSeconds(took).toFixed(0)} s`)
      )
    )
  )
  yield* sql`VACUUM ANALYZE`
})
