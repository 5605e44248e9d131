/** Stored responses in PostgreSQL, encrypted with the master key. */
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isStorable } from "../../domain/plainText.ts"
import { Distribution } from "../../postgres/citus/Distribution.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { deleteInBatches, retryBriefly, rowsOf, runOnce } from "../../postgres/client/rows.ts"
import {
  MAX_CONVERSATION,
  ResponseContent,
  type StoredResponse,
  StoredResponses
} from "../../services/results/StoredResponses.ts"
import { Vault } from "../../services/Vault.ts"

const ResponseRow = Schema.Struct({
  id: Schema.String,
  previousId: Schema.NullOr(Schema.String),
  keyId: Schema.String,
  content: Schema.Uint8Array
})

const Size = Schema.Struct({ id: Schema.String, bytes: Schema.Int })
const PlacedSize = Schema.Struct({
  ...Size.fields,
  previousId: Schema.NullOr(Schema.String)
})

const Content = Schema.fromJsonString(ResponseContent)
const encodeContent = Schema.encodeSync(Content)
const decodeContent = Schema.decodeUnknownEffect(Content)

/** The subject for which a response is encrypted, so that it opens for no other organisation. */
export const subjectOf = (organizationId: string, id: string) => `response ${organizationId} ${id}`

export const layerStoredResponses = Layer.effect(
  StoredResponses,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const { equals } = makeConditions(sql)
    const { claimRows } = yield* Distribution
    /** Joins the orders of the responses `r` that are charged, in one organisation. */
    const chargedOrders = (organizationId: string) => sql`
      JOIN orders o ON o.organization_id = ${organizationId} AND o.id = r.order_id
                   AND o.state = 'captured'`
    const columns = sql`r.id, r.previous_id AS "previousId", r.key_id AS "keyId", r.content`

    /** The response of a row; null where its master key is gone, as if it was not stored. */
    const open = (organizationId: string) =>
      Effect.fnUntraced(
        function* ({ id, previousId, keyId, content }: typeof ResponseRow.Type) {
          const subject = subjectOf(organizationId, id)
          const json = yield* vault.open({ keyId, bytes: content }, subject, "")
          const { response, input } = yield* decodeContent(Redacted.value(json))
          return { id, previousId, response, input } satisfies StoredResponse
        },
        (response, { id }) =>
          Effect.catch(response, ({ message }) =>
            Effect.logError("responses: decrypting a stored response failed").pipe(
              Effect.annotateLogs({ response_id: id, cause: message }),
              Effect.as(null)
            )
          )
      )

    const openAll = (organizationId: string, rows: ReadonlyArray<typeof ResponseRow.Type>) =>
      Effect.map(Effect.forEach(rows, open(organizationId)), (responses) =>
        responses.filter((response) => response !== null)
      )

    return StoredResponses.of({
      add: Effect.fn("StoredResponses.add")(function* (added) {
        const { organizationId, id, orderId, previousId, itemIds, lifetimeSeconds } = added
        const { keyId, bytes } = yield* vault.seal(
          Redacted.make(encodeContent({ response: added.response, input: added.input })),
          subjectOf(organizationId, id),
          ""
        )
        yield* retryBriefly(sql`
          INSERT INTO responses
                 (organization_id, id, order_id, previous_id, item_ids, key_id, content, expires_at)
          VALUES (${organizationId}, ${id}, ${orderId}, ${previousId}, ${itemIds.filter(isStorable)}::text[],
                  ${keyId}, ${bytes}, now() + make_interval(secs => ${lifetimeSeconds}::float8))
          ON CONFLICT (organization_id, id) DO NOTHING`)
      }),
      find: Effect.fn("StoredResponses.find")(function* (organizationId, id) {
        if (!isStorable(id)) return null
        const rows = yield* rowsOf(ResponseRow)(
          retryBriefly(sql`
            SELECT ${columns} FROM responses r ${chargedOrders(organizationId)}
             WHERE r.organization_id = ${organizationId} AND r.id = ${id}
               AND r.expires_at > now()`)
        )
        const [response = null] = yield* openAll(organizationId, rows)
        return response
      }),
      conversation: Effect.fn("StoredResponses.conversation")(function* (organizationId, id) {
        if (!isStorable(id)) return null
        const rows = yield* rowsOf(PlacedSize)(
          retryBriefly(sql`
            WITH RECURSIVE conversation AS (
              SELECT r.id, r.previous_id, 1 AS position, octet_length(r.content) AS bytes,
                     octet_length(r.content)::bigint AS all_bytes
                FROM responses r ${chargedOrders(organizationId)}
               WHERE r.organization_id = ${organizationId} AND r.id = ${id} AND r.expires_at > now()
              UNION ALL
              SELECT r.id, r.previous_id, c.position + 1, octet_length(r.content),
                     c.all_bytes + octet_length(r.content)
                FROM conversation c
                JOIN responses r ON r.organization_id = ${organizationId} AND r.id = c.previous_id
               WHERE r.expires_at > now() AND c.position < ${MAX_CONVERSATION.responses}::int
                 AND c.all_bytes + octet_length(r.content) <= ${MAX_CONVERSATION.bytes}::bigint)
            SELECT id, previous_id AS "previousId", bytes FROM conversation ORDER BY position DESC`)
        )
        return rows[0]?.previousId === null ? rows : null
      }),
      withItems: Effect.fn("StoredResponses.withItems")(function* (organizationId, itemIds) {
        const ids = itemIds.filter(isStorable)
        return yield* rowsOf(Size)(
          retryBriefly(sql`
            WITH found AS (
              SELECT DISTINCT ON (item) item, r.id, r.order_id, octet_length(r.content) AS bytes
                FROM responses r ${chargedOrders(organizationId)}
                     CROSS JOIN LATERAL unnest(r.item_ids) item
               WHERE r.organization_id = ${organizationId} AND r.expires_at > now()
                 AND r.item_ids && ${ids}::text[] AND item = ANY (${ids}::text[])
               ORDER BY item, r.order_id DESC)
            SELECT DISTINCT order_id, id, bytes FROM found ORDER BY order_id DESC`)
        )
      }),
      load: Effect.fn("StoredResponses.load")(function* (organizationId, ids) {
        const rows = yield* rowsOf(ResponseRow)(
          retryBriefly(sql`
            SELECT ${columns} FROM responses r
             WHERE r.organization_id = ${organizationId} AND r.id = ANY (${ids}::text[])
               AND r.expires_at > now()
             ORDER BY array_position(${ids}::text[], r.id)`)
        )
        return yield* openAll(organizationId, rows)
      }),
      remove: Effect.fn("StoredResponses.remove")(function* (organizationId, id) {
        if (!isStorable(id)) return false
        const rows = yield* runOnce(sql`
          DELETE FROM responses r
           USING orders o
           WHERE r.organization_id = ${organizationId} AND r.id = ${id} AND r.expires_at > now()
             AND o.organization_id = ${organizationId} AND o.id = r.order_id
             AND o.state = 'captured'
          RETURNING r.id`)
        return rows.length > 0
      }),
      removeExpired: Effect.asVoid(
        deleteInBatches((limit) =>
          claimRows({
            due: sql`responses WHERE expires_at <= now()`,
            limit,
            claim: (route, rest, _: ReadonlyArray<object>) => sql`
              DELETE FROM responses r
               USING (SELECT organization_id, id FROM responses
                       WHERE expires_at <= now() AND ${equals("organization_id", route)}
                       ORDER BY expires_at LIMIT ${rest} FOR UPDATE SKIP LOCKED) due
               WHERE r.organization_id = due.organization_id AND r.id = due.id
                 AND ${equals("r.organization_id", route)}
              RETURNING r.id`
          })
        )
      )
    })
  })
)
