/** Whether the rows of organisations are spread over the nodes of a Citus cluster. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { decodeRows, withStatementTimeout } from "../client/rows.ts"

/** The maximum number of concurrent calls of one kind of batch, each for one organisation. */
const MAX_CALLS = 8

const DistributionRow = Schema.Struct({ isDistributed: Schema.Boolean })
const CoordinatorRow = Schema.Struct({ isCoordinator: Schema.Boolean })
const DueRow = Schema.Struct({ organizationId: Schema.String })

/**
 * Citus routes a statement to one node only if it compares `organization_id` with a parameter, and
 * locks rows only in such statements. One PostgreSQL serves many organisations by one statement. So
 * a statement that can serve many takes a route: the organisation that it serves on a cluster, and
 * null on one PostgreSQL.
 */
export class Distribution extends Context.Service<
  Distribution,
  {
    readonly isDistributed: boolean
    /** Whether the gateway is connected to the coordinator of a cluster, or to one PostgreSQL. */
    readonly isCoordinator: boolean
    /** The route of a statement for items of this organisation, and perhaps of others. */
    readonly routeOf: (organizationId: string) => string | null
    /** What makes the items of each call of a batch have one route. */
    readonly batchOptions: { readonly oneLaneACall?: true; readonly concurrency?: number }
    /** The lane of an organisation's items in such batches. */
    readonly laneOf: (organizationId: string) => string
    /**
     * Claims up to `limit` rows, on a cluster from one organisation after the other. `due` is the
     * table and the condition of the rows, of which the organisations are read. `claim` claims rows
     * of a route after the rows that are claimed already.
     */
    readonly claimRows: <A, E>(options: {
      readonly due: Statement.Fragment
      readonly limit: number
      readonly claim: (
        route: string | null,
        limit: number,
        claimed: ReadonlyArray<A>
      ) => Effect.Effect<ReadonlyArray<A>, E>
    }) => Effect.Effect<ReadonlyArray<A>, E | SqlError.SqlError>
  }
>()("gateway/postgres/Distribution") {}

/** The counts, and how many of these items have each key. */
export const countsWith = <A>(
  counts: ReadonlyMap<string, number>,
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string
): ReadonlyMap<string, number> => {
  const sums = new Map(counts)
  for (const item of items) sums.set(keyOf(item), (sums.get(keyOf(item)) ?? 0) + 1)
  return sums
}

const decodeDistribution = decodeRows(DistributionRow)
const decodeCoordinator = decodeRows(CoordinatorRow)
const decodeDue = decodeRows(DueRow)

export const layerDistribution = Layer.effect(
  Distribution,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [{ isDistributed } = { isDistributed: false }] = yield* decodeDistribution(
      withStatementTimeout(sql`
        SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS "isDistributed"`)
    )
    const [{ isCoordinator } = { isCoordinator: true }] = isDistributed
      ? yield* decodeCoordinator(
          withStatementTimeout(sql`SELECT citus_is_coordinator() AS "isCoordinator"`)
        )
      : []
    /** In a random order, so that each organisation comes first at times. */
    const dueOrganizations = (due: Statement.Fragment, limit: number) =>
      decodeDue(
        withStatementTimeout(sql`
          SELECT organization_id AS "organizationId"
            FROM (SELECT DISTINCT organization_id FROM ${due}) due
           ORDER BY random() LIMIT ${limit}`)
      )

    return Distribution.of({
      isDistributed,
      isCoordinator,
      batchOptions: isDistributed ? { oneLaneACall: true, concurrency: MAX_CALLS } : {},
      routeOf: (organizationId) => (isDistributed ? organizationId : null),
      laneOf: (organizationId) => (isDistributed ? organizationId : "all"),
      claimRows: Effect.fnUntraced(function* ({ due, limit, claim }) {
        if (!isDistributed) return yield* claim(null, limit, [])
        let claimed: Effect.Success<ReturnType<typeof claim>> = []
        for (const { organizationId } of yield* dueOrganizations(due, limit)) {
          const rows = yield* claim(organizationId, limit - claimed.length, claimed)
          claimed = [...claimed, ...rows]
          if (claimed.length >= limit) break
        }
        return claimed
      })
    })
  })
)
