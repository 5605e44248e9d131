/**
 * The charged units of a month, summed up by the database from the quotes stored with the orders.
 */
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { makeLongReads } from "../../postgres/client/longReads.ts"
import { rowsOf } from "../../postgres/client/rows.ts"
import { ChargedUnits } from "./ChargedUnits.ts"
import { UnitGroup } from "./replay.ts"

export const layerChargedUnits = Layer.effect(
  ChargedUnits,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const readLong = yield* makeLongReads(sql)

    const read = (month: string, isIncluded: Statement.Fragment) => {
      const first = sql`${`${month}-01`}::date`
      // Each order is stored with its month in the deployment's time zone. The condition on the
      // time of creation is up to a day wider on each side; it lets the index serve the query.
      // Where the client was charged by seconds but the cost is by tokens, the number of tokens
      // is computed from the cost. An order that was charged by a cheaper line has the facts of that
      // line; padding up to the vendor's least seconds is none of its seconds, and the seconds of a
      // reference video that were not measured for the hold are not known. Of a length that the model
      // chose, only charged seconds are kept. The cost is of the mount
      // that made the video, and so are its references; the quote may be that of another mount.
      const unitGroups = sql`
          SELECT g.price_list_id AS "priceListId", o.model, o.job ->> 'channelId' AS "channelId", q.resolution,
                 q."withVideo", q.sound, q.mode, q.references, q."expectsOutput", q.quality, q.size,
                 q.edit, q."mayCacheImages",
                 count(*)::int AS count,
                 sum(o.charge)::text AS "chargeNano", coalesce(sum(o.cost), 0)::text AS "costNano",
                 (count(*) - count(o.cost))::int AS "withoutCost",
                 sum(q.tokens)::text AS "videoTokens", sum(q.seconds)::text AS seconds,
                 sum(q."inputSeconds")::text AS "inputSeconds",
                 sum(q.images)::text AS images,
                 sum(q."imageInputTokens")::text AS "imageInputTokens",
                 sum(o.input) FILTER (WHERE q.kind IN ('tokens', 'image_tokens'))::text AS "inputTokens",
                 sum(o.output) FILTER (WHERE q.kind IN ('tokens', 'image_tokens'))::text AS "outputTokens",
                 sum(q."cachedTokens")::text AS "cachedTokens",
                 sum(q."audioInputTokens")::text AS "audioInputTokens",
                 sum(q."audioOutputTokens")::text AS "audioOutputTokens",
                 sum(q."codePoints")::text AS "codePoints",
                 sum(q."hanCharacters")::text AS "hanCharacters",
                 sum(o.output) FILTER (WHERE q.kind = 'audio_seconds')::text AS "audioSeconds",
                 q."stepSeconds", q."minimumSeconds",
                 sum(o.output) FILTER (WHERE q.kind = 'searches')::text AS searches,
                 q."documentsPerSearch", sum(q."costUnits")::text AS "costUnits",
                 q."costStepSeconds", q."costMinimumSeconds", q."costDocumentsPerSearch"
            FROM orders o
            JOIN organizations g ON g.id = o.organization_id
           CROSS JOIN LATERAL (
             SELECT o.quote ->> 'kind' AS kind,
                    coalesce(line.facts ->> 'resolution', o.quote ->> 'resolution') AS resolution,
                    coalesce(o.quote -> 'withVideo', o.cost_quote -> 'withVideo')::boolean
                      AS "withVideo",
                    coalesce(line.facts ->> 'sound', o.quote ->> 'sound')::boolean AS sound,
                    o.quote ->> 'mode' AS mode,
                    coalesce(o.cost_quote #> '{surcharge,references}',
                             o.quote #> '{surcharge,references}')::int AS references,
                    coalesce(o.quote ->> 'outputTokens' <> '0', false) AS "expectsOutput",
                    o.quote ->> 'quality' AS quality, o.quote ->> 'size' AS size,
                    coalesce((o.quote ->> 'edit')::boolean, false) AS edit,
                    CASE WHEN o.unit = 'second'
                              AND o.quote ->> 'kind' <> 'audio_seconds'
                         THEN least(o.output, (o.quote ->> 'outputSeconds')::bigint)
                         WHEN (o.quote ->> 'smart')::boolean IS NOT TRUE
                         THEN (o.quote ->> 'outputSeconds')::bigint END AS seconds,
                    CASE WHEN o.unit = 'second' AND o.input > 0 THEN o.input
                         WHEN (o.quote ->> 'withVideo')::boolean
                         THEN nullif((o.quote ->> 'inputSeconds')::bigint, 0)
                         ELSE (o.quote ->> 'inputSeconds')::bigint END AS "inputSeconds",
                    CASE WHEN o.quote ? 'outputSeconds' AND o.unit = 'token' THEN o.output
                         ELSE o.cost / (o.cost_quote ->> 'nanoPerToken')::bigint END AS tokens,
                    (o.quote ->> 'images')::bigint AS images,
                    CASE WHEN o.quote ->> 'kind' = 'image_tokens'
                         THEN units_of_part(o.parts, 'image_input') END AS "imageInputTokens",
                    -- Cached tokens are charged as text first: input beyond the parts is text.
                    o.quote ->> 'kind' = 'image_tokens' AND o.quote ->> 'imageInputTokens' <> '0'
                      AND units_of_part(o.parts, 'cached_input') > 0
                      AND units_of_part(o.parts, 'cached_input')
                          + units_of_part(o.parts, 'image_input') = o.input AS "mayCacheImages",
                    CASE WHEN o.quote ? 'nanoPerCachedToken'
                         THEN units_of_part(o.parts, 'cached_input') END AS "cachedTokens",
                    CASE WHEN o.quote ? 'nanoPerAudioInputToken'
                         THEN units_of_part(o.parts, 'audio_input') END AS "audioInputTokens",
                    CASE WHEN o.quote ? 'nanoPerAudioOutputToken'
                         THEN units_of_part(o.parts, 'audio_output') END AS "audioOutputTokens",
                    (o.quote ->> 'codePoints')::bigint AS "codePoints",
                    (o.quote ->> 'hanCharacters')::bigint AS "hanCharacters",
                    (o.quote ->> 'stepSeconds')::int AS "stepSeconds",
                    (o.quote ->> 'minimumSeconds')::int AS "minimumSeconds",
                    (o.quote ->> 'documentsPerSearch')::int AS "documentsPerSearch",
                    CASE WHEN o.cost_quote ->> 'kind' IN ('audio_seconds', 'searches')
                         THEN o.cost / (o.cost_quote ->> 'nanoPerUnit')::bigint END AS "costUnits",
                    (o.cost_quote ->> 'stepSeconds')::int AS "costStepSeconds",
                    (o.cost_quote ->> 'minimumSeconds')::int AS "costMinimumSeconds",
                    (o.cost_quote ->> 'documentsPerSearch')::int AS "costDocumentsPerSearch"
               FROM (SELECT 1) one
               LEFT JOIN LATERAL (
                 SELECT facts FROM jsonb_array_elements(o.quote -> 'cheaperLines') AS facts
                  WHERE facts ->> 'nanoPerUnit' = o.unit_price::text LIMIT 1) line ON true) q
           WHERE o.state = 'captured' AND o.month = ${first}
             AND o.created_at >= ${first} - interval '1 day'
             AND o.created_at < ${first} + interval '1 month 1 day'
             AND ${isIncluded}
           GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, q."stepSeconds",
                    q."minimumSeconds", q."documentsPerSearch", q."costStepSeconds",
                    q."costMinimumSeconds", q."costDocumentsPerSearch", q.kind,
                    q."costUnits" IS NULL, q.tokens IS NULL, q.seconds IS NULL,
                    q."inputSeconds" IS NULL, q."imageInputTokens" IS NULL,
                    q."cachedTokens" IS NULL, q."audioInputTokens" IS NULL,
                    q."audioOutputTokens" IS NULL`
      return rowsOf(UnitGroup)(readLong(unitGroups))
    }

    return ChargedUnits.of({
      readMonth: Effect.fn("ChargedUnits.readMonth")((month) => read(month, sql`true`)),
      readMonthOf: Effect.fn("ChargedUnits.readMonthOf")((organizationId, month) =>
        read(month, sql`o.organization_id = ${organizationId}`)
      )
    })
  })
)
