/** Webhook endpoints in PostgreSQL. The vault seals each secret for the id of its endpoint. */
import { Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { callbacksOf } from "../../domain/webhookEvents.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { columnsOf, readPage, retryBriefly, rowsOf, runOnce } from "../../postgres/client/rows.ts"
import { Vault } from "../../services/Vault.ts"
import {
  MAX_ENDPOINTS,
  noSuchEndpoint,
  OLD_SECRET_HOURS,
  tooManyEndpoints,
  WebhookEndpoint,
  WebhookEndpoints
} from "./WebhookEndpoints.ts"
import { hintOf, makeSecret } from "./webhookSecrets.ts"

const SecretRow = Schema.Struct({
  secret: Schema.Uint8Array,
  keyId: Schema.String,
  oldSecret: Schema.NullOr(Schema.Uint8Array),
  oldKeyId: Schema.NullOr(Schema.String)
})

const columns = columnsOf(WebhookEndpoint, "e")

export const layerWebhookEndpoints = Layer.effect(
  WebhookEndpoints,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom
    const endpointsOf = rowsOf(WebhookEndpoint)

    const freshSecret = Effect.fnUntraced(function* (id: string) {
      const secret = yield* makeSecret(random)
      return { secret, hint: hintOf(secret), sealed: yield* vault.seal(secret, id, "") }
    })

    /** The only row that the statement returns; fails with `NotFound` if there is no row. */
    const requireRow = (statement: Parameters<typeof endpointsOf>[0], id: string) =>
      Effect.flatMap(endpointsOf(statement), ([row]) =>
        row === undefined ? Effect.fail(noSuchEndpoint(id)) : Effect.succeed(row)
      )

    const insert = (
      owner: string,
      id: string,
      { name, url, eventTypes }: Pick<WebhookEndpoint, "name" | "url" | "eventTypes">,
      { hint, sealed }: Effect.Success<ReturnType<typeof freshSecret>>
    ) => sql`
      INSERT INTO webhook_endpoints AS e
        (organization_id, id, name, url, event_types, secret, secret_key_id, secret_hint)
      SELECT ${owner}, ${id}, ${name}, ${url}, ${[...eventTypes]}::text[], ${sealed.bytes},
             ${sealed.keyId}, ${hint}
        FROM (SELECT count(*) AS count FROM webhook_endpoints
               WHERE organization_id = ${owner} AND url <> '') n
       WHERE n.count < ${MAX_ENDPOINTS} OR ${url} = ''
      ON CONFLICT (organization_id, id) DO NOTHING
      RETURNING ${sql.literal(columns)}`

    const find: WebhookEndpoints["Service"]["find"] = (owner, id) =>
      requireRow(
        retryBriefly(sql`
          SELECT ${sql.literal(columns)} FROM webhook_endpoints e
           WHERE e.id = ${id} AND ${equals("e.organization_id", owner)}`),
        id
      )

    const enabledAfter = (enabled: boolean | undefined) => {
      if (enabled === undefined) return sql`disabled_at = e.disabled_at`
      return enabled
        ? sql`failing_since = NULL, disabled_at = NULL, disabled_reason = NULL`
        : // An earlier time stays: `least` ignores null.
          sql`disabled_at = least(e.disabled_at, now()),
              disabled_reason = coalesce(e.disabled_reason, 'its owner asked for it')`
    }

    const openSecret = (id: string, bytes: Uint8Array | null, keyId: string | null) =>
      bytes === null || keyId === null
        ? Effect.succeed([])
        : vault.open({ keyId, bytes }, id, "").pipe(
            Effect.tapError(({ message }) =>
              Effect.logError("webhooks: opening a signing secret failed").pipe(
                Effect.annotateLogs({ endpoint_id: id, cause: message })
              )
            ),
            Effect.option,
            Effect.map(Option.toArray)
          )

    return WebhookEndpoints.of({
      create: Effect.fn("WebhookEndpoints.create")(function* (owner, endpoint) {
        const id = `whe_${yield* random.uuidV7()}`
        const fresh = yield* freshSecret(id)
        const [row] = yield* endpointsOf(runOnce(insert(owner, id, endpoint, fresh)))
        return row === undefined ? yield* tooManyEndpoints : { endpoint: row, secret: fresh.secret }
      }),
      list: Effect.fn("WebhookEndpoints.list")((owner, page) =>
        readPage(WebhookEndpoint, page, {
          isEntry: (after) => sql`
            SELECT 1 FROM webhook_endpoints
             WHERE organization_id = ${owner} AND id = ${after} AND url <> ''`,
          newest: sql`
            SELECT ${sql.literal(columns)} FROM webhook_endpoints e
             WHERE e.organization_id = ${owner} AND e.url <> ''
               AND ${isAfterCursor("e.id", page.after)}
             ORDER BY e.id DESC LIMIT ${page.limit + 1}`
        })
      ),
      find,
      change: Effect.fn("WebhookEndpoints.change")((owner, id, change) =>
        requireRow(
          runOnce(sql`
            UPDATE webhook_endpoints e
               SET name = coalesce(${change.name ?? null}, e.name),
                   url = coalesce(${change.url ?? null}, e.url),
                   event_types = coalesce(${change.eventTypes === undefined ? null : [...change.eventTypes]}::text[],
                                          e.event_types),
                   updated_at = now(), ${enabledAfter(change.enabled)}
             WHERE e.organization_id = ${owner} AND e.id = ${id} AND e.url <> ''
            RETURNING ${sql.literal(columns)}`),
          id
        )
      ),
      remove: Effect.fn("WebhookEndpoints.remove")(function* (owner, id) {
        yield* requireRow(
          runOnce(sql`
            DELETE FROM webhook_endpoints e
             WHERE e.organization_id = ${owner} AND e.id = ${id} AND e.url <> ''
            RETURNING ${sql.literal(columns)}`),
          id
        )
        yield* runOnce(sql`DELETE FROM webhook_messages WHERE endpoint_id = ${id}`)
      }),
      rotate: Effect.fn("WebhookEndpoints.rotate")(function* (owner, id, keepsOld) {
        const { secret, hint, sealed } = yield* freshSecret(id)
        const oldSecret = keepsOld
          ? sql`e.secret, e.secret_key_id, now() + make_interval(hours => ${OLD_SECRET_HOURS})`
          : sql`NULL, NULL, NULL`
        const endpoint = yield* requireRow(
          runOnce(sql`
            UPDATE webhook_endpoints e
               SET (old_secret, old_secret_key_id, old_secret_until) = (${oldSecret}),
                   secret = ${sealed.bytes}, secret_key_id = ${sealed.keyId}, secret_hint = ${hint},
                   updated_at = now()
             WHERE e.organization_id = ${owner} AND e.id = ${id}
            RETURNING ${sql.literal(columns)}`),
          id
        )
        return { endpoint, secret }
      }),
      callbacks: Effect.fn("WebhookEndpoints.callbacks")(function* (organizationId) {
        const id = callbacksOf(organizationId)
        const stored = yield* Effect.option(find(organizationId, id))
        if (Option.isSome(stored)) return stored.value
        const endpoint = { name: "callbacks", url: "", eventTypes: [] }
        yield* runOnce(insert(organizationId, id, endpoint, yield* freshSecret(id)))
        return yield* Effect.orDie(find(organizationId, id))
      }),
      secrets: Effect.fn("WebhookEndpoints.secrets")(function* (id) {
        const [row] = yield* rowsOf(SecretRow)(
          runOnce(sql`
            SELECT secret, secret_key_id AS "keyId",
                   CASE WHEN old_secret_until > now() THEN old_secret END AS "oldSecret",
                   old_secret_key_id AS "oldKeyId"
              FROM webhook_endpoints WHERE id = ${id}`)
        )
        if (row === undefined) return []
        return [
          ...(yield* openSecret(id, row.secret, row.keyId)),
          ...(yield* openSecret(id, row.oldSecret, row.oldKeyId))
        ]
      })
    })
  })
)
