/** Organisations, members and keys in PostgreSQL. Keys are looked up by their keyed hash. */
import { Cache, Clock, Duration, Effect, Layer, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { InvalidApiKey, NotFound } from "../domain/Errors.ts"
import { Access, type Caller, type NewKey, Scope } from "../services/Access.ts"
import { API_KEY_BYTES, formatApiKey, isWellFormedApiKey } from "../services/apiKey.ts"
import { Vault } from "../services/Vault.ts"
import { repeatable, rowOf, rowsOf } from "./rows.ts"

const KeyRow = Schema.Struct({
  organization_id: Schema.String,
  member_id: Schema.String,
  id: Schema.String,
  scopes: Schema.Array(Scope),
  models: Schema.NullOr(Schema.Array(Schema.String)),
  expires_at: Schema.NullOr(Schema.Date)
})

const OwnerRow = Schema.Struct({ organization_id: Schema.String })
const OrganizationRow = Schema.Struct({ id: Schema.String, name: Schema.String })

const CACHED_KEYS = 10_000
/** Bounds how long a revoked key may still work on another gateway. */
const CACHE_TIME = Duration.millis(500)

const refused = new InvalidApiKey({
  message: "The API key is missing or not valid. Send it as: Authorization: Bearer <API_KEY>"
})

export const layerAccess = Layer.effect(
  Access,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom
    const newId = (prefix: string) => Effect.map(random.uuidV7(), (uuid) => `${prefix}_${uuid}`)

    const lookUp = Effect.fnUntraced(function* (hashHex: string) {
      const [row] = yield* rowsOf(KeyRow)(
        repeatable(sql`
          SELECT organization_id, member_id, id, scopes, models, expires_at FROM api_keys
           WHERE hash = decode(${hashHex}, 'hex') AND revoked_at IS NULL`)
      )
      if (row === undefined) return null
      const caller: Caller = {
        organizationId: row.organization_id,
        memberId: row.member_id,
        keyId: row.id,
        scopes: new Set(row.scopes),
        models: row.models === null ? null : new Set(row.models)
      }
      return { caller, expiresAt: row.expires_at }
    })

    const keys = yield* Cache.make({
      capacity: CACHED_KEYS,
      timeToLive: CACHE_TIME,
      lookup: lookUp
    })

    const authenticate: Access["Service"]["authenticate"] = Effect.fn("Access.authenticate")(
      function* (key) {
        if (!isWellFormedApiKey(key)) return yield* refused
        const found = yield* Cache.get(keys, Hex.encode(yield* vault.hash(key)))
        if (found === null) return yield* refused
        if (
          found.expiresAt !== null &&
          found.expiresAt.getTime() <= (yield* Clock.currentTimeMillis)
        ) {
          return yield* refused
        }
        return found.caller
      }
    )

    const createOrganization: Access["Service"]["createOrganization"] = Effect.fn(
      "Access.createOrganization"
    )(function* (name) {
      const id = yield* newId("org")
      yield* sql
        .withTransaction(
          sql`INSERT INTO organizations (id, name) VALUES (${id}, ${name})`.pipe(
            Effect.andThen(sql`INSERT INTO pools (organization_id) VALUES (${id})`)
          )
        )
        .pipe(Effect.orDie)
      return id
    })

    const organization: Access["Service"]["organization"] = Effect.fn("Access.organization")(
      function* (id) {
        const [row] = yield* rowsOf(OrganizationRow)(
          sql`SELECT id, name FROM organizations WHERE id = ${id}`
        )
        return row ?? (yield* new NotFound({ message: "No such organisation" }))
      }
    )

    const createMember: Access["Service"]["createMember"] = Effect.fn("Access.createMember")(
      function* (organizationId, { name, monthlyCapNano }) {
        yield* organization(organizationId)
        const id = yield* newId("mem")
        yield* Effect.orDie(sql`
          INSERT INTO members (organization_id, id, name, monthly_cap)
          VALUES (${organizationId}, ${id}, ${name}, ${monthlyCapNano})`)
        return id
      }
    )

    const organizationOf = Effect.fnUntraced(function* (memberId: string) {
      const [row] = yield* rowsOf(OwnerRow)(
        sql`SELECT organization_id FROM members WHERE id = ${memberId}`
      )
      return row?.organization_id ?? (yield* new NotFound({ message: "No such member" }))
    })

    const store = Effect.fnUntraced(function* (
      memberId: string,
      key: Redacted.Redacted,
      options: NewKey,
      id: string
    ) {
      const organizationId = yield* organizationOf(memberId)
      const hash = yield* vault.hash(key)
      yield* Effect.orDie(sql`
        INSERT INTO api_keys (organization_id, id, member_id, name, hash, scopes, models, expires_at)
        VALUES (${organizationId}, ${id}, ${memberId}, ${options.name}, ${hash},
                ${[...options.scopes]}, ${options.models === null ? null : [...options.models]},
                ${options.expiresAt})
        ON CONFLICT (organization_id, id) DO NOTHING`)
      yield* Cache.invalidate(keys, Hex.encode(hash))
    })

    const createKey: Access["Service"]["createKey"] = Effect.fn("Access.createKey")(
      function* (memberId, options) {
        const id = yield* newId("key")
        const key = formatApiKey(yield* random.randomBytes(API_KEY_BYTES))
        yield* store(memberId, key, options, id)
        return { id, key }
      }
    )

    const importKey: Access["Service"]["importKey"] = Effect.fn("Access.importKey")(
      (memberId, key, options) => store(memberId, key, options, `key_${memberId}`)
    )

    const revokeKey: Access["Service"]["revokeKey"] = Effect.fn("Access.revokeKey")(function* (id) {
      const rows = yield* Effect.orDie(sql`
          UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = ${id} RETURNING id`)
      if (rows.length === 0) return yield* new NotFound({ message: "No such key" })
      yield* Cache.invalidateAll(keys)
    })

    const isEmpty = Effect.map(
      rowOf(Schema.Struct({ empty: Schema.Boolean }))(
        sql`SELECT NOT EXISTS (SELECT 1 FROM organizations) AS empty`
      ),
      ({ empty }) => empty
    )

    return Access.of({
      authenticate,
      createOrganization,
      createMember,
      createKey,
      importKey,
      revokeKey,
      organization,
      isEmpty
    })
  })
)
