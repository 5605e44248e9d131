/** Gateways of earlier versions move money by other functions while they are replaced. */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Ledger } from "../../src/services/Ledger.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { layerStoresOn, organization, usageOf } from "../support/ledger.ts"

const ROUNDS = 6
const HOLDS = 120
/** Of the earlier versions at a time; they ask for some of the same holds. */
const CALLS = 5
const everywhere = { concurrency: "unbounded" } as const

const layerShared = Layer.unwrap(
  Effect.map(temporaryServerDatabase, (url) => layerStoresOn(layerDatabaseAt(url)))
)

const Outcomes = Schema.Tuple([
  Schema.Struct({
    close_outcomes: Schema.NullOr(Schema.Array(Schema.String)),
    hold_outcomes: Schema.NullOr(Schema.Array(Schema.String))
  })
])

const earlierBatch = Effect.fnUntraced(function* (
  organizationId: string,
  closes: ReadonlyArray<object>,
  holds: ReadonlyArray<object>
) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* Effect.flatMap(
    sql`SELECT close_outcomes, hold_outcomes FROM ledger_batch(
          ${organizationId}, 'UTC', ${sql.json(closes)}, ${sql.json(holds)})`,
    Schema.decodeUnknownEffect(Outcomes)
  )
  return row
})

const earlierCapture = (id: string) => ({
  id,
  charge: "7",
  by: "earlier",
  task: null,
  usage: {
    id: `us_${id}`,
    key_id: "key_1",
    task_id: null,
    model: "paint-1",
    modality: "image",
    input: "0",
    output: "7",
    unit: "image",
    unit_price: "1",
    basis: "requested_images"
  }
})

const nothing = [
  ...["p_usage_tasks", "p_input_unit_prices", "p_task_ends", "p_orphans", "p_answers"],
  ...["p_forgotten", "p_holds", "p_members", "p_amounts", "p_seconds", "p_quotes", "p_jobs"],
  ...["p_tasks", "p_keys", "p_spenders"]
].map((name) => `${name} => NULL`)

const laterBatch = Effect.fnUntraced(function* (
  organizationId: string,
  ids: ReadonlyArray<string>
) {
  const sql = yield* PgClient.PgClient
  const each = <A>(value: A): ReadonlyArray<A> => ids.map(() => value)
  const [row] = yield* Effect.flatMap(
    sql`SELECT close_outcomes, hold_outcomes FROM move_money(
          p_organization => ${organizationId}, p_time_zone => 'UTC', p_closes => ${ids}::text[],
          p_charges => ${each("7")}::text[]::bigint[], p_closers => ${each("later")}::text[],
          p_usage_keys => ${each("key_1")}::text[], p_models => ${each("paint-1")}::text[],
          p_modalities => ${each("image")}::text[], p_inputs => ${each("0")}::text[]::bigint[],
          p_outputs => ${each("7")}::text[]::bigint[], p_units => ${each("image")}::text[],
          p_unit_prices => ${each("1")}::text[]::bigint[],
          p_bases => ${each("requested_images")}::text[], ${sql.literal(nothing.join(", "))})`,
    Schema.decodeUnknownEffect(Outcomes)
  )
  return row
})

const earlierHold = (id: string, memberId: string) => ({
  id,
  member_id: memberId,
  amount: "10",
  ttl_seconds: 600,
  quote: {},
  job: { channel_id: "ch", protocol: "ip_a", upstream_model: "u" },
  task: null,
  key: null
})

layer(layerShared, { excludeTestServices: true, timeout: "60 seconds" })(
  "a ledger shared with gateways of earlier versions",
  (it) => {
    it.effect("closes each hold once, whoever took it and whoever closes it", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, memberIds, hold, close } = yield* organization(1_000_000n, 5)
        for (let round = 0; round < ROUNDS; round++) {
          const mine = Array.from({ length: HOLDS }, (_, index) =>
            hold(10n, { memberId: memberIds[index % 5] ?? "" })
          )
          const theirs = Array.from({ length: HOLDS }, (_, index) =>
            earlierHold(`im_earlier_${round}_${index}`, memberIds[index % 5] ?? "")
          )
          yield* Effect.all(
            [
              Effect.forEach(mine, (request) => ledger.hold(request), everywhere),
              earlierBatch(organizationId, [], theirs)
            ],
            everywhere
          )
          const ids = [...mine, ...theirs].map(({ id }) => id)
          const calls = Array.from({ length: CALLS }, (_, call) =>
            ids.filter((_, index) => index % CALLS === call || index % 2 === 0)
          )
          const [closed, batches] = yield* Effect.all(
            [
              Effect.forEach(
                ids,
                (id) => ledger.capture({ ...close(id), chargeNano: 7n, usage: usageOf(7n) }),
                everywhere
              ),
              Effect.forEach(
                calls,
                (some, call) =>
                  call % 2 === 0
                    ? earlierBatch(organizationId, some.map(earlierCapture), [])
                    : laterBatch(organizationId, some),
                everywhere
              )
            ],
            everywhere
          )
          const won =
            closed.filter((one) => one.won).length +
            batches
              .flatMap((batch) => batch.close_outcomes ?? [])
              .filter((outcome) => outcome === "won").length
          assert.strictEqual(won, 2 * HOLDS)
        }
        assert.deepEqual(yield* ledger.balance(organizationId), {
          balanceNano: 1_000_000n - BigInt(ROUNDS * 2 * HOLDS * 7),
          heldNano: 0n
        })
        assert.deepEqual(yield* ledger.verify, [])
      })
    )
  }
)
