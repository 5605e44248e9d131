/**
 * Moves of organisations between the nodes of a Citus cluster, while their orders run. Citus copies
 * the rows, and pauses writes to them at the end of the copy.
 */
import { Effect, Fiber, Schedule, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { deepestReason } from "../../runtime/deepestReason.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { rowOf, rowsOf } from "../client/rows.ts"

const Node = Schema.Struct({ host: Schema.String, port: Schema.Int })
type Node = typeof Node.Type

/** A shard of the pools, and with it all rows of its organisations. */
const Shard = Schema.Struct({
  id: Schema.String,
  ...Node.fields,
  /** Whether no other organisation can be in the shard. */
  isIsolated: Schema.Boolean
})

const Count = Schema.Struct({ organizations: Schema.Int })

const formatNode = ({ host, port }: Node): string => `${host}:${port}`

/** A move cannot be made; nothing was changed. */
class TenantFailure extends Schema.TaggedError<TenantFailure>()("TenantFailure", {
  message: Schema.String
}) {}

export interface TenantMove {
  /** The node on which the organisation's rows are after the command. */
  readonly node: string
  /** The number of organisations in the shard that moved, this one included. */
  readonly organizations: number
  readonly seconds: number
  /** The longest time for which the organisation's pool could not be written. */
  readonly pauseSeconds: number
}

const PROBE_MILLIS = 10

/**
 * Whether the node still has the shard from before an earlier move away from it: the cluster removes
 * it once no statement uses it.
 */
const isInTheWay = (error: SqlError.SqlError): boolean =>
  /leftover from the previous move/.test(deepestReason(error))

/**
 * Makes the moves. `mover` has no time-outs; `sql` has those of a gateway, and observes how long
 * writes pause.
 */
export const makeTenants = (mover: SqlClient.SqlClient, sql: SqlClient.SqlClient) => {
  const nodes = rowsOf(Node)(sql`
    SELECT nodename AS host, nodeport AS port FROM pg_dist_node
     WHERE noderole = 'primary' AND shouldhaveshards ORDER BY groupid`)

  const findShard = Effect.fnUntraced(function* (organizationId: string) {
    const [shard] = yield* rowsOf(Shard)(sql`
      SELECT s.shardid::text AS id, s.nodename AS host, s.nodeport AS port,
             d.shardminvalue = d.shardmaxvalue AS "isIsolated"
        FROM citus_shards s JOIN pg_dist_shard d USING (shardid)
       WHERE s.table_name = 'pools'::regclass
         AND s.shardid = get_shard_id_for_distribution_column('pools', ${organizationId}::text)`)
    return shard ?? (yield* new TenantFailure({ message: "The tables are not distributed" }))
  })

  const requireOrganization = Effect.fnUntraced(function* (organizationId: string) {
    const pools = yield* sql`SELECT 1 FROM pools WHERE organization_id = ${organizationId}`
    if (pools.length > 0) return
    return yield* new TenantFailure({ message: `No organisation is called ${organizationId}` })
  })

  const requireNode = Effect.fnUntraced(function* (name: string) {
    const all = yield* nodes
    const node = all.find((one) => formatNode(one) === name)
    if (node !== undefined) return node
    return yield* new TenantFailure({
      message: `No node with shards is called ${name}. There are ${all.map(formatNode).join(", ")}`
    })
  })

  /** Without logical replication, writes pause for the whole copy. */
  const transferMode = sql`
    (CASE current_setting('wal_level') WHEN 'logical' THEN 'force_logical' ELSE 'block_writes' END
    )::citus.shard_transfer_mode`

  /** Runs the move, and measures how long the organisation's pool cannot be written meanwhile. */
  const observing = Effect.fnUntraced(function* <A, E>(
    organizationId: string,
    move: Effect.Effect<A, E>
  ) {
    let longestMillis = 0
    const write = sql`
      UPDATE pools SET low_told = low_told WHERE organization_id = ${organizationId}`.pipe(
      Effect.retry({ while: isTransient })
    )
    const probe = yield* Effect.forkChild(
      Effect.gen(function* () {
        const startMillis = yield* monotonicMillis
        yield* write
        longestMillis = Math.max(longestMillis, (yield* monotonicMillis) - startMillis)
      }).pipe(Effect.delay(PROBE_MILLIS), Effect.forever)
    )
    const startMillis = yield* monotonicMillis
    yield* move
    const seconds = ((yield* monotonicMillis) - startMillis) / 1000
    yield* write
    yield* Fiber.interrupt(probe)
    return { seconds, pauseSeconds: longestMillis / 1000 }
  })

  const placed = Effect.fnUntraced(function* (
    organizationId: string,
    times: { readonly seconds: number; readonly pauseSeconds: number }
  ) {
    const shard = yield* findShard(organizationId)
    const { organizations } = yield* rowOf(Count)(sql`
      SELECT count(*)::int AS organizations FROM pools
       WHERE get_shard_id_for_distribution_column('pools', organization_id) = ${shard.id}::bigint`)
    return { node: formatNode(shard), organizations, ...times } satisfies TenantMove
  })

  /** Moves the organisation to the node, with the others of its shard. */
  const move = Effect.fn("Tenants.move")(function* (organizationId: string, to: string) {
    yield* requireOrganization(organizationId)
    const target = yield* requireNode(to)
    const shard = yield* findShard(organizationId)
    if (formatNode(shard) === to)
      return yield* placed(organizationId, { seconds: 0, pauseSeconds: 0 })
    const times = yield* observing(
      organizationId,
      mover`
        SELECT citus_move_shard_placement(${shard.id}::bigint, ${shard.host}, ${shard.port}::int,
                                          ${target.host}, ${target.port}::int, ${transferMode})`.pipe(
        Effect.retry({ while: isInTheWay, schedule: Schedule.spaced("1 second"), times: 60 })
      )
    )
    return yield* placed(organizationId, times)
  })

  /**
   * Gives the organisation a shard of its own, on the node where it is. Writes to the old shard
   * pause for the whole copy: with Citus 13.2.2, a split by logical replication does not end while
   * its rows change.
   */
  const isolate = Effect.fn("Tenants.isolate")(function* (organizationId: string) {
    yield* requireOrganization(organizationId)
    const { isIsolated } = yield* findShard(organizationId)
    if (isIsolated) {
      return yield* placed(organizationId, { seconds: 0, pauseSeconds: 0 })
    }
    const times = yield* observing(
      organizationId,
      mover`
        SELECT isolate_tenant_to_new_shard('pools', ${organizationId}::text, 'CASCADE',
                                           'block_writes')`
    )
    return yield* placed(organizationId, times)
  })

  return { isolate, move }
}
