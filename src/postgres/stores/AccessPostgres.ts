/** Organisations, members and keys in PostgreSQL. Keys are looked up by their hash. */
import { Clock, Effect, identity, Layer, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { makeBoundedMap } from "../../runtime/boundedMap.ts"
import { Changes, isFresh, type Mark } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  Access,
  API_KEY_BYTES,
  apiKeyHash,
  type Caller,
  formatApiKey,
  isWellFormedApiKey,
  type LookUpGuard,
  refusedKey,
  Scope
} from "../../services/Access.ts"
import { bounded, columnsOf, repeatable, rowsOf } from "../client/rows.ts"

const KeyRow = Schema.Struct({
  organizationId: Schema.String,
  memberId: Schema.String,
  keyId: Schema.String,
  scopes: Schema.Array(Scope),
  models: Schema.NullOr(Schema.Array(Schema.String)),
  expiresAt: Schema.NullOr(Schema.Date),
  requestsPerMinute: Schema.NullOr(Schema.Int)
})
const keyColumns = columnsOf(KeyRow, "k", { keyId: "k.id" })

const OwnerRow = Schema.Struct({ organizationId: Schema.String })
const OrganizationRow = Schema.Struct({ id: Schema.String, name: Schema.String })

/** Keys that open something, and keys that open nothing, which cannot drive out the others. */
const CACHED_KEYS = 10_000
const UNKNOWN_KEYS = 10_000

export const layerAccess = Layer.effect(
  Access,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const newId = (prefix: string) => Effect.map(random.uuidV7(), (uuid) => `${prefix}_${uuid}`)

    const unknown = makeBoundedMap<Mark>(UNKNOWN_KEYS)

    const lookUp = Effect.fnUntraced(function* (hashHex: string) {
      const mark = changes.mark("keys", yield* Clock.Clock)
      const [row] = yield* rowsOf(KeyRow)(
        repeatable(sql`
          SELECT ${sql.literal(keyColumns)} FROM api_keys k
           WHERE hash = decode(${hashHex}, 'hex') AND revoked_at IS NULL`)
      )
      if (row === undefined) {
        unknown.set(hashHex, mark)
        return yield* refusedKey
      }
      const { expiresAt, scopes, models, ...who } = row
      const caller: Caller = {
        ...who,
        scopes: new Set(scopes),
        models: models === null ? null : new Set(models)
      }
      return { caller, expiresAt }
    })

    const find = yield* makeFreshCache({ topic: "keys", capacity: CACHED_KEYS, lookup: lookUp })

    const organization: Access["Service"]["organization"] = Effect.fn("Access.organization")(
      function* (id) {
        const [row] = yield* rowsOf(OrganizationRow)(
          repeatable(sql`SELECT id, name FROM organizations WHERE id = ${id}`)
        )
        return row ?? (yield* new NotFound({ message: "No such organisation" }))
      }
    )

    const organizationOf = Effect.fnUntraced(function* (memberId: string) {
      const [row] = yield* rowsOf(OwnerRow)(
        repeatable(
          sql`SELECT organization_id AS "organizationId" FROM members WHERE id = ${memberId}`
        )
      )
      return row?.organizationId ?? (yield* new NotFound({ message: "No such member" }))
    })

    const isEmpty = Effect.map(
      repeatable(sql`SELECT 1 FROM organizations LIMIT 1`),
      (rows) => rows.length === 0
    )

    return Access.of({
      authenticate: Effect.fnUntraced(function* <E = never>(
        key: Redacted.Redacted,
        guard: LookUpGuard<E> = identity
      ) {
        if (!isWellFormedApiKey(key)) return yield* refusedKey
        const hashHex = apiKeyHash(key)
        const mark = unknown.peek(hashHex)
        if (mark !== null && isFresh(mark, changes.mark("keys", yield* Clock.Clock))) {
          return yield* refusedKey
        }
        const found = yield* find(hashHex, guard)
        if (
          found.expiresAt !== null &&
          found.expiresAt.getTime() <= (yield* Clock.currentTimeMillis)
        ) {
          return yield* refusedKey
        }
        return found.caller
      }),
      createOrganization: Effect.fn("Access.createOrganization")(function* (name) {
        const id = yield* newId("org")
        yield* sql
          .withTransaction(
            sql`INSERT INTO organizations (id, name) VALUES (${id}, ${name})`.pipe(
              Effect.andThen(sql`INSERT INTO pools (organization_id) VALUES (${id})`)
            )
          )
          .pipe(bounded)
        return id
      }),
      createMember: Effect.fn("Access.createMember")(function* (
        organizationId,
        { name, monthlyCapNano }
      ) {
        yield* organization(organizationId)
        const id = yield* newId("mem")
        yield* bounded(sql`
          INSERT INTO members (organization_id, id, name, monthly_cap)
          VALUES (${organizationId}, ${id}, ${name}, ${monthlyCapNano})`)
        return id
      }),
      createKey: Effect.fn("Access.createKey")(function* (
        memberId,
        { name, expiresAt, requestsPerMinute = null, ...options }
      ) {
        const organizationId = yield* organizationOf(memberId)
        const id = yield* newId("key")
        const key = formatApiKey(yield* random.randomBytes(API_KEY_BYTES))
        const scopes = [...options.scopes]
        const models = options.models === null ? null : [...options.models]
        // The text is new, so no gateway can have asked for it before and needs to be told.
        yield* repeatable(sql`
          INSERT INTO api_keys (organization_id, id, member_id, name, hash, scopes, models, expires_at,
                                requests_per_minute)
          VALUES (${organizationId}, ${id}, ${memberId}, ${name}, decode(${apiKeyHash(key)}, 'hex'),
                  ${scopes}, ${models}, ${expiresAt}, ${requestsPerMinute})
          ON CONFLICT (organization_id, id) DO NOTHING`)
        return { id, key }
      }),
      revokeKey: Effect.fn("Access.revokeKey")(function* (id) {
        const rows = yield* repeatable(
          changes.telling(
            "keys",
            sql`UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
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
