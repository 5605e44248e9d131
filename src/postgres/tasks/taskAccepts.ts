/** Recording vendors' acceptances: all that come at a time are one commit. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { isPassing } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import type { TaskRepo } from "../../services/TaskRepo.ts"
import { decodeRows, oneTry } from "../client/rows.ts"

interface Acceptance {
  readonly organizationId: string
  readonly id: string
  readonly upstreamId: string
  readonly firstPollSeconds: number
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** As the ledger locks them: by organisation, then by id, each by its characters' codes. */
const inOrder = (one: Acceptance, other: Acceptance): number =>
  compared(one.organizationId, other.organizationId) || compared(one.id, other.id)

/** Written in one statement, at most. */
const MAX_ACCEPTS = 200

const AcceptedRow = Schema.Struct({ place: Schema.Int, accepted: Schema.Boolean })

export const makeAcceptTask = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const decode = decodeRows(AcceptedRow)

  /** In the order of the items; null where there is no such task. */
  const acceptAll = Effect.fnUntraced(function* (items: ReadonlyArray<Acceptance>) {
    // A batch of the ledger may be about to lock the same tasks.
    const sorted = items.toSorted(inOrder)
    const texts = (of: (item: Acceptance) => string) => sql`${sorted.map(of)}::text[]`
    // The lock reads what is committed by now, which tells a repeat whose first answer was lost
    // from an acceptance that came too late.
    const rows = yield* decode(sql`
      WITH locked AS MATERIALIZED (
        SELECT d.organization_id, d.id, d.state = 'submitting' AS fresh,
               coalesce(d.upstream_id = i.upstream_id, false) AS repeated,
               i.upstream_id, i.seconds::float8 AS seconds, i.place
          FROM unnest(${texts(({ organizationId }) => organizationId)},
                      ${texts(({ id }) => id)},
                      ${texts(({ upstreamId }) => upstreamId)},
                      ${texts(({ firstPollSeconds }) => String(firstPollSeconds))})
                 WITH ORDINALITY AS i(organization_id, id, upstream_id, seconds, place)
         CROSS JOIN LATERAL
           (SELECT t.organization_id, t.id, t.state, t.upstream_id FROM tasks t
             WHERE t.organization_id = i.organization_id AND t.id = i.id FOR UPDATE) d
      ), accepted AS (
        UPDATE tasks t
           SET state = 'processing', upstream_id = l.upstream_id, asked_at = now(),
               accepted_at = now(), next_poll_at = now() + make_interval(secs => l.seconds)
          FROM locked l
         WHERE t.organization_id = l.organization_id AND t.id = l.id AND l.fresh
      )
      SELECT place::int AS place, fresh OR repeated AS accepted FROM locked`)
    const answers = new Map(rows.map(({ place, accepted }) => [sorted[place - 1], accepted]))
    return items.map((item) => answers.get(item) ?? null)
  })

  const accepts = yield* makeMicroBatch({
    maxItems: MAX_ACCEPTS,
    run: (items: ReadonlyArray<Acceptance>) => oneTry(acceptAll(items)),
    passes: isPassing
  })

  const accept: TaskRepo["Service"]["accept"] = Effect.fnUntraced(
    function* (organizationId, id, upstreamId, firstPollSeconds) {
      const accepted = yield* accepts.submit("tasks", {
        organizationId,
        id,
        upstreamId,
        firstPollSeconds
      })
      return accepted ?? (yield* Effect.die(new Error(`no task is called ${id}`)))
    }
  )

  return accept
})
