/** Organisations, members and keys in PostgreSQL. Keys are looked up by their hash. */
import { Clock, Effect, Layer, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { Changes } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Access, type Caller, refusedKey, Scope } from "../../services/Access.ts"
import {
  formatToken,
  type LookUpGuard,
  TOKEN_BYTES,
  tokenHash
} from "../../services/bearerTokens.ts"
import { budgetPrefix } from "../../services/money/Budgets.ts"
import { columnsOf, retryBriefly, rowsOf, runOnce } from "../client/rows.ts"
import { makeSetCap } from "./memberCaps.ts"
import { makeTokenLookUps } from "./tokenLookUps.ts"

/**
 * Capacity of the cache of members' states; a signed link is checked against its member's state.
 */
const MEMBER_CACHE_CAPACITY = 10_000

const DISABLED = `CASE WHEN o.disabled_at IS NOT NULL THEN 'organisation'
                       WHEN m.disabled_at IS NOT NULL THEN 'member' END`

const KeyRow = Schema.Struct({
  organizationId: Schema.String,
  memberId: Schema.String,
  keyId: Schema.String,
  scopes: Schema.Array(Scope),
  models: Schema.NullOr(Schema.Array(Schema.String)),
  expiresAt: Schema.NullOr(Schema.Date),
  requestsPerMinute: Schema.NullOr(Schema.Int),
  watermark: Schema.NullOr(Schema.Boolean),
  priceList: Schema.NullOr(Schema.String),
  disabledOwner: Schema.NullOr(Schema.Literals(["organisation", "member"]))
})
const keyColumns = columnsOf(KeyRow, "k", {
  keyId: "k.id",
  watermark: "o.watermark",
  priceList: "o.price_list_id",
  disabledOwner: DISABLED
})

const OwnerStateRow = Schema.Struct({ disabledOwner: KeyRow.fields.disabledOwner })
const OwnerRow = Schema.Struct({ organizationId: Schema.String })
const OrganizationRow = Schema.Struct({ id: Schema.String, name: Schema.String })

export const layerAccess = Layer.effect(
  Access,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const setCap = yield* makeSetCap
    const { timeZone } = yield* Settings
    const newId = (prefix: string) => Effect.map(random.uuidV7(), (uuid) => `${prefix}_${uuid}`)

    /** The holder of the unrevoked key that fits the condition, and when the key expires. */
    const readHolder = Effect.fnUntraced(function* (condition: Statement.Fragment) {
      const [row] = yield* rowsOf(KeyRow)(
        retryBriefly(sql`
          SELECT ${sql.literal(keyColumns)} FROM api_keys k
            JOIN organizations o ON o.id = k.organization_id
            JOIN members m ON m.organization_id = k.organization_id AND m.id = k.member_id
           WHERE ${condition} AND k.revoked_at IS NULL`)
      )
      if (row === undefined) return null
      const { expiresAt, scopes, models, ...identity } = row
      // A statement of its own: a cluster would read all budgets for a join of this one.
      const ownBudgets = yield* retryBriefly(sql`
        SELECT 1 FROM budgets
         WHERE organization_id = ${identity.organizationId} AND subject_id = ${identity.keyId}
         LIMIT 1`)
      const caller: Caller = {
        ...identity,
        hasBudget: ownBudgets.length > 0,
        scopes: new Set(scopes),
        models: models === null ? null : new Set(models)
      }
      return { caller, expiresAt }
    })

    const find = yield* makeTokenLookUps({
      prefix: "mg_",
      refusal: refusedKey,
      read: (hashHex) => readHolder(sql`k.hash = decode(${hashHex}, 'hex')`)
    })

    /** The holder, where the key has not expired by now. */
    const refuseExpired = ({
      caller,
      expiresAt
    }: NonNullable<Effect.Success<ReturnType<typeof readHolder>>>) =>
      expiresAt === null
        ? Effect.succeed(caller)
        : Effect.flatMap(Clock.currentTimeMillis, (now) =>
            expiresAt.getTime() <= now ? Effect.fail(refusedKey) : Effect.succeed(caller)
          )

    const organization: Access["Service"]["organization"] = Effect.fn("Access.organization")(
      function* (id) {
        const [row] = yield* rowsOf(OrganizationRow)(
          retryBriefly(sql`SELECT id, name FROM organizations WHERE id = ${id}`)
        )
        return row ?? (yield* new NotFound({ message: "No such organisation" }))
      }
    )

    const organizationOf = Effect.fnUntraced(function* (memberId: string) {
      const [row] = yield* rowsOf(OwnerRow)(
        retryBriefly(
          sql`SELECT organization_id AS "organizationId" FROM members WHERE id = ${memberId}`
        )
      )
      return row?.organizationId ?? (yield* new NotFound({ message: "No such member" }))
    })

    const isEmpty = Effect.map(
      retryBriefly(sql`SELECT 1 FROM organizations LIMIT 1`),
      (rows) => rows.length === 0
    )

    const findStanding = yield* makeFreshCache({
      topic: "keys",
      capacity: MEMBER_CACHE_CAPACITY,
      lookup: Effect.fnUntraced(function* (name: string) {
        const [organizationId, memberId] = name.split(" ")
        const [row] = yield* rowsOf(OwnerStateRow)(
          retryBriefly(sql`
            SELECT ${sql.literal(DISABLED)} AS "disabledOwner" FROM members m
              JOIN organizations o ON o.id = m.organization_id
             WHERE m.organization_id = ${organizationId} AND m.id = ${memberId}`)
        )
        return row === undefined ? "member" : row.disabledOwner
      })
    })

    return Access.of({
      ownerState: (organizationId, memberId) => findStanding(`${organizationId} ${memberId}`),
      authenticate: <E = never>(key: Redacted.Redacted, guard?: LookUpGuard<E>) =>
        Effect.flatMap(find(key, guard), refuseExpired),
      callerOf: Effect.fn("Access.callerOf")(function* (organizationId, keyId) {
        const holder = yield* readHolder(
          sql`k.organization_id = ${organizationId} AND k.id = ${keyId}`
        )
        return holder === null ? yield* refusedKey : yield* refuseExpired(holder)
      }),
      createOrganization: Effect.fn("Access.createOrganization")(function* (name) {
        const id = yield* newId("org")
        yield* sql
          .withTransaction(
            sql`INSERT INTO organizations (id, name) VALUES (${id}, ${name})`.pipe(
              Effect.andThen(sql`INSERT INTO pools (organization_id) VALUES (${id})`)
            )
          )
          .pipe(runOnce)
        return id
      }),
      createMember: Effect.fn("Access.createMember")(function* (
        organizationId,
        { name, monthlyCapNano }
      ) {
        yield* organization(organizationId)
        const id = yield* newId("mem")
        yield* runOnce(
          sql.withTransaction(
            sql`INSERT INTO members (organization_id, id, name)
                VALUES (${organizationId}, ${id}, ${name})`.pipe(
              Effect.andThen(setCap(organizationId, id, monthlyCapNano))
            )
          )
        )
        return id
      }),
      createKey: Effect.fn("Access.createKey")(function* (
        memberId,
        { name, expiresAt, requestsPerMinute = null, budget, ...options }
      ) {
        const organizationId = yield* organizationOf(memberId)
        const id = yield* newId("key")
        const budgetId = budget === undefined ? null : budgetPrefix + (yield* random.uuidV7())
        const key = formatToken("mg_", yield* random.randomBytes(TOKEN_BYTES))
        const scopes = [...options.scopes]
        const models = options.models === null ? null : [...options.models]
        const insertKey = sql`
          INSERT INTO api_keys (organization_id, id, member_id, name, hash, scopes, models, expires_at,
                                requests_per_minute)
          VALUES (${organizationId}, ${id}, ${memberId}, ${name}, decode(${tokenHash(key)}, 'hex'),
                  ${scopes}, ${models}, ${expiresAt}, ${requestsPerMinute})
          ON CONFLICT (organization_id, id) DO NOTHING`
        const insertBudget =
          budget === undefined
            ? Effect.void
            : Effect.asVoid(sql`
                SELECT create_budget(${timeZone}, ${organizationId}, ${budgetId}, 'key', ${id},
                                     ${budget.period}, ${budget.amountNano},
                                     ${[...budget.thresholds]}::int[], false)`)
        // The key is new, so no gateway can have cached it, and none needs a notification.
        yield* retryBriefly(sql.withTransaction(Effect.andThen(insertKey, () => insertBudget)))
        return { id, key, organizationId, budgetId }
      }),
      // An earlier time stays: `least` ignores null.
      revokeKey: Effect.fn("Access.revokeKey")(function* (id) {
        const rows = yield* retryBriefly(
          changes.changeAndNotify(
            "keys",
            sql`UPDATE api_keys SET revoked_at = least(revoked_at, now())
               WHERE id = ${id} RETURNING id`
          )
        )
        if (rows.length === 0) return yield* new NotFound({ message: "No such key" })
      }),
      organization,
      isEmpty
    })
  })
)
