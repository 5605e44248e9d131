/**
 * Sessions in PostgreSQL. Each request reads its session by one look-up, which no gateway caches, so
 * that an ended session is refused everywhere at once, and the database's clock decides its age.
 */
import { createHash } from "node:crypto"
import { Effect, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  deleteInBatches,
  readPage,
  retryBriefly,
  rowsOf
} from "../../postgres/client/rows.ts"
import type { PageRequest } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import { formatToken, TOKEN_BYTES, tokenHash } from "../../services/bearerTokens.ts"
import type { Person, Session } from "../../services/Sessions.ts"
import type { Identity, LogoutNotice } from "./IdentityProvider.ts"

/** How long a token is used before another takes its place. */
const ROTATION_SECONDS = 900
/**
 * How long the token before is valid after its successor was first used, and how long a gateway
 * waits before it takes an unused successor for lost.
 */
const GRACE_SECONDS = 60
/** The use of a session is written at most this often. */
const USE_SECONDS = 30
/** Ended sessions are kept for this long, so that a sign-in cannot open a second one. */
const RETENTION_SECONDS = 3600

const SessionRow = Schema.Struct({
  id: Schema.String,
  csrfToken: Schema.String,
  issuer: Schema.String,
  subject: Schema.String,
  name: Schema.String,
  email: Schema.NullOr(Schema.String),
  groups: Schema.Array(Schema.String),
  createdAt: Schema.Date,
  usedAt: Schema.Date,
  endsAt: Schema.Date
})

const LiveSessionRow = Schema.Struct({
  ...SessionRow.fields,
  /** Whether the use of the session is to be written. */
  isUseDue: Schema.Boolean,
  /** Whether the token is to be replaced. */
  isRotationDue: Schema.Boolean
})

/**
 * A session whose token the request has.
 * @public
 */
export interface LiveSession {
  readonly session: Session
  readonly csrfToken: string
  readonly renew: Effect.Effect<Redacted.Redacted | null>
}

const sessionOf = (row: typeof SessionRow.Type): Session => ({
  id: row.id,
  person: {
    issuer: row.issuer,
    subject: row.subject,
    name: row.name,
    email: row.email,
    groups: row.groups
  },
  createdAt: row.createdAt,
  usedAt: row.usedAt,
  endsAt: row.endsAt
})

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

export const makeSessionStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const { sessionIdleSeconds, sessionSeconds } = yield* Settings
  const { isAfterCursor } = makeConditions(sql)

  const seconds = (count: number) => sql`make_interval(secs => ${count}::float8)`
  const newToken = Effect.map(random.randomBytes(TOKEN_BYTES), (bytes) =>
    formatToken("mgs_", bytes)
  )
  const hashOf = (token: Redacted.Redacted) => sql`decode(${tokenHash(token)}, 'hex')`

  const endsAt = sql`least(s.created_at + ${seconds(sessionSeconds)}, s.used_at + ${seconds(sessionIdleSeconds)})`
  const columns = sql`${sql.literal(
    columnsOf(SessionRow, "s", { endsAt: "NULL" }).replace(/, NULL AS "endsAt"$/, "")
  )}, ${endsAt} AS "endsAt"`
  const isLive = sql`s.ended_at IS NULL AND ${endsAt} > now()`
  const isOf = ({ issuer, subject }: Pick<Person, "issuer" | "subject">) =>
    sql`s.issuer = ${issuer} AND s.subject = ${subject}`
  /** Whether the token is that before the last rotation, and is still accepted. */
  const isPrevious = (token: Redacted.Redacted) =>
    sql`s.previous_hash = ${hashOf(token)} AND coalesce(s.previous_until > now(), true)`
  /** A rotation is due; or the last one is taken for lost, as its token was never used. */
  const isRotationDue = (token: Redacted.Redacted) => sql`
    (s.hash = ${hashOf(token)} AND s.rotated_at <= now() - ${seconds(ROTATION_SECONDS)}
     OR s.previous_hash = ${hashOf(token)} AND s.previous_until IS NULL
        AND s.rotated_at <= now() - ${seconds(GRACE_SECONDS)})`

  const noteUse = (id: string, token: Redacted.Redacted) =>
    retryBriefly(sql`
      UPDATE sessions s
         SET used_at = now(),
             previous_until = CASE WHEN s.hash = ${hashOf(token)} AND s.previous_until IS NULL
                                   THEN now() + ${seconds(GRACE_SECONDS)}
                                   ELSE s.previous_until END
       WHERE s.id = ${id} AND ${isLive}`)

  /** Of parallel requests one gets the new token; the others keep theirs for the grace. */
  const rotate = Effect.fnUntraced(function* (id: string, token: Redacted.Redacted) {
    const successor = yield* newToken
    const rows = yield* retryBriefly(sql`
      UPDATE sessions s
         SET hash = ${hashOf(successor)}, previous_hash = ${hashOf(token)}, previous_until = NULL,
             rotated_at = now(), used_at = now()
       WHERE s.id = ${id} AND ${isLive} AND ${isRotationDue(token)}
      RETURNING s.id`)
    return rows.length === 0 ? null : successor
  })

  const end = (condition: ReturnType<typeof isOf>) =>
    Effect.map(
      retryBriefly(
        sql`UPDATE sessions s SET ended_at = now() WHERE ${condition} AND s.ended_at IS NULL
            RETURNING s.id`
      ),
      (rows) => rows.length
    )

  return {
    /** The live session of the token; null for every other token. */
    find: Effect.fn("SessionStore.find")(function* (token: Redacted.Redacted) {
      const [row] = yield* rowsOf(LiveSessionRow)(
        retryBriefly(sql`
          SELECT ${columns},
                 s.used_at <= now() - ${seconds(Math.min(USE_SECONDS, sessionIdleSeconds / 4))}
                   OR s.hash = ${hashOf(token)} AND s.previous_hash IS NOT NULL
                      AND s.previous_until IS NULL AS "isUseDue",
                 coalesce(${isRotationDue(token)}, false) AS "isRotationDue"
            FROM sessions s
           WHERE (s.hash = ${hashOf(token)} OR ${isPrevious(token)}) AND ${isLive}`)
      )
      if (row === undefined) return null
      const liveSession: LiveSession = {
        session: sessionOf(row),
        csrfToken: row.csrfToken,
        renew: row.isRotationDue
          ? rotate(row.id, token)
          : row.isUseDue
            ? Effect.as(noteUse(row.id, token), null)
            : Effect.succeed(null)
      }
      return liveSession
    }),

    /** Opens a session, and returns its token; null where the sign-in has opened one before. */
    create: Effect.fn("SessionStore.create")(function* (
      { person, providerSession }: Identity,
      state: string
    ) {
      const id = `ses_${yield* random.uuidV7()}`
      const token = yield* newToken
      const csrfToken = Base64Url.encode(yield* random.randomBytes(TOKEN_BYTES))
      // A repeat after a lost answer finds its own row.
      const rows = yield* retryBriefly(sql`
        INSERT INTO sessions AS s (id, hash, csrf_token, sign_in_hash, issuer, subject,
                                   provider_session, name, email, groups)
        VALUES (${id}, ${hashOf(token)}, ${csrfToken}, decode(${sha256(state)}, 'hex'),
                ${person.issuer}, ${person.subject}, ${providerSession}, ${person.name},
                ${person.email}, ${[...person.groups]})
        ON CONFLICT (sign_in_hash) DO UPDATE SET id = s.id WHERE s.id = excluded.id
        RETURNING s.id`)
      return rows.length === 0 ? null : token
    }),

    /** Ends one session, of this person where one is named. */
    end: Effect.fn("SessionStore.end")(function* (id: string, person: Person | null) {
      const isOwn = person === null ? sql`true` : isOf(person)
      const rows = yield* retryBriefly(sql`
        UPDATE sessions s SET ended_at = least(s.ended_at, now()) WHERE s.id = ${id} AND ${isOwn}
        RETURNING s.id`)
      if (rows.length === 0) return yield* new NotFound({ message: "No such session" })
    }),

    endByToken: Effect.fn("SessionStore.endByToken")((token: Redacted.Redacted) =>
      end(sql`(s.hash = ${hashOf(token)} OR ${isPrevious(token)})`)
    ),

    /** Ends all sessions of a person, and returns how many there were. */
    endAll: Effect.fn("SessionStore.endAll")((person: Person) => end(isOf(person))),

    /**
     * Ends the sessions that the provider has ended. Those that began after its notice stay, so that
     * a notice that is sent again ends none of them.
     */
    endByNotice: Effect.fn("SessionStore.endByNotice")((issuer: string, notice: LogoutNotice) => {
      const { subject, providerSession, issuedAt } = notice
      const isSubject = subject === null ? sql`true` : sql`s.subject = ${subject}`
      const isSession =
        providerSession === null ? sql`true` : sql`s.provider_session = ${providerSession}`
      // The notice has whole seconds.
      return end(sql`s.issuer = ${issuer} AND ${isSubject} AND ${isSession}
                     AND s.created_at < ${issuedAt}::timestamptz + interval '1 second'`)
    }),

    /** Lists live sessions, newest first; those of one person where one is named. */
    list: Effect.fn("SessionStore.list")(function* (person: Person | null, page: PageRequest) {
      const isListed = person === null ? sql`true` : isOf(person)
      const { data, hasMore } = yield* readPage(SessionRow, page, {
        isEntry: (after) => sql`SELECT 1 FROM sessions WHERE id = ${after}`,
        newest: sql`
          SELECT ${columns} FROM sessions s
           WHERE ${isLive} AND ${isListed} AND ${isAfterCursor("id", page.after)}
           ORDER BY id DESC LIMIT ${page.limit + 1}`
      })
      return { data: data.map(sessionOf), hasMore }
    }),

    /** Deletes sessions that ended some time ago. */
    removeEnded: deleteInBatches(
      (limit) => sql`
        DELETE FROM sessions WHERE id IN (
          SELECT s.id FROM sessions s
           WHERE least(s.ended_at, ${endsAt}) < now() - ${seconds(RETENTION_SECONDS)}
             AND s.created_at < now() - ${seconds(RETENTION_SECONDS)}
           ORDER BY s.created_at LIMIT ${limit}) RETURNING id`
    )
  }
})
