/**
 * The members as whom people order. At the first sign-in into an organisation the person gets a
 * member and a key of which nobody has the secret: orders, caps, budgets and usage work as with any
 * other key, and who revokes the key or disables the member ends the access.
 */
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { retryBriefly, rowsOf, runOnce } from "../../postgres/client/rows.ts"
import { usualScopes } from "../../services/Access.ts"
import type { Person } from "../../services/Sessions.ts"

const MemberKey = Schema.Struct({ memberId: Schema.String, keyId: Schema.String })
const HASH_BYTES = 32
const KEY_NAME = "Sign-in"

export const makeMemberKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom

  const find = Effect.fnUntraced(function* (organizationId: string, person: Person) {
    const [key] = yield* rowsOf(MemberKey)(
      retryBriefly(sql`
        SELECT member_id AS "memberId", key_id AS "keyId" FROM sign_in_members
         WHERE organization_id = ${organizationId} AND issuer = ${person.issuer}
           AND subject = ${person.subject}`)
    )
    return key ?? null
  })

  const insert = Effect.fnUntraced(function* (organizationId: string, person: Person) {
    const memberId = `mem_${yield* random.uuidV7()}`
    const keyId = `key_${yield* random.uuidV7()}`
    // No token has this hash, as it is not the hash of anything.
    const hash = Buffer.from(yield* random.randomBytes(HASH_BYTES)).toString("hex")
    const row = sql`
      INSERT INTO sign_in_members (organization_id, issuer, subject, member_id, key_id)
      VALUES (${organizationId}, ${person.issuer}, ${person.subject}, ${memberId}, ${keyId})
      ON CONFLICT (organization_id, issuer, subject) DO NOTHING RETURNING member_id`
    yield* runOnce(
      sql.withTransaction(
        Effect.gen(function* () {
          // Of first sign-ins at the same time, one makes the member; the others wait here for it.
          if ((yield* row).length === 0) return
          yield* sql`
            INSERT INTO members (organization_id, id, name)
            VALUES (${organizationId}, ${memberId}, ${person.email ?? person.name})`
          yield* sql`
            INSERT INTO api_keys (organization_id, id, member_id, name, hash, scopes)
            VALUES (${organizationId}, ${keyId}, ${memberId}, ${KEY_NAME}, decode(${hash}, 'hex'),
                    ${[...usualScopes]})`
        })
      )
    )
  })

  return {
    /** The member and the key of a person; null before the first sign-in into the organisation. */
    find,
    /** Finds or makes the member and the key; null where there is no such organisation. */
    findOrCreate: Effect.fn("memberKeys.findOrCreate")(function* (
      organizationId: string,
      person: Person
    ) {
      const present = yield* find(organizationId, person)
      if (present !== null) return present
      const organizations = yield* retryBriefly(
        sql`SELECT 1 FROM organizations WHERE id = ${organizationId}`
      )
      if (organizations.length === 0) return null
      yield* insert(organizationId, person)
      return yield* find(organizationId, person)
    })
  }
})
