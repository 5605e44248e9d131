-- Sums of charges and failed orders, updated in the commits that close and correct orders, so that
-- a year is read from a few rows. An order counts at the time it was ordered, a correction at the
-- time it was made.

CREATE TABLE usage_sums (
  organization_id text NOT NULL,
  -- Every order counts once under the empty name, and once under each entry of its metadata.
  tag_name text COLLATE "C" NOT NULL,
  -- An hour, a day or a month in the deployment's time zone, with its beginning.
  step text NOT NULL CHECK (step IN ('hour', 'day', 'month')),
  start timestamptz NOT NULL,
  tag_value text COLLATE "C" NOT NULL,
  member_id text NOT NULL,
  key_id text NOT NULL,
  model text NOT NULL,
  modality text NOT NULL,
  channel_id text NOT NULL,
  -- The number of charges, and the number of orders that ended without a charge.
  count bigint NOT NULL,
  failed bigint NOT NULL,
  charge bigint NOT NULL,
  -- What vendors bill for the charges whose cost is known, and the number of charges without a
  -- known cost.
  cost bigint NOT NULL,
  without_cost bigint NOT NULL,
  -- What vendors themselves report to bill, at the mounts' prices, and the number of charges without
  -- such a report. The amount is numeric, since no limit of ours bounds what vendors report, and an
  -- overflow would keep orders from being closed.
  reported_cost numeric NOT NULL,
  without_reported_cost bigint NOT NULL,
  -- The corrections (refunds) of charges.
  returned bigint NOT NULL,
  -- The charged units.
  tokens bigint NOT NULL,
  seconds bigint NOT NULL,
  images bigint NOT NULL,
  clips bigint NOT NULL,
  characters bigint NOT NULL,
  searches bigint NOT NULL,
  PRIMARY KEY (organization_id, tag_name, step, start, tag_value, member_id, key_id, model, modality,
               channel_id)
) WITH (fillfactor = 50);
-- For statements, which list the metadata entries of a month under any name.
CREATE INDEX usage_sums_tags_by_month ON usage_sums (organization_id, start)
 WHERE step = 'month' AND tag_name <> '';

-- Adds orders that are closed in this commit to the sums or, where `p_returned` is set, refunds of
-- their charges. The caller holds the locks of their pools; an order occurs at most once in the
-- arrays.
CREATE FUNCTION sum_up(
  p_time_zone text, p_organization text, p_organizations text[], p_orders text[],
  p_returned bigint[])
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
BEGIN
  -- Sums by hour come first, which leaves few rows for the longer steps.
  WITH hours AS MATERIALIZED (
    SELECT o.organization_id, tag.name AS tag_name, tag.value AS tag_value, o.member_id, o.key_id,
           o.model, o.modality, o.job ->> 'channelId' AS channel_id,
           date_trunc('hour', CASE WHEN u.returned IS NULL THEN o.created_at ELSE now() END,
                      p_time_zone) AS hour,
           sum(n.charged) AS count, sum(n.closed - n.charged) AS failed,
           sum(n.charged * o.charge) AS charge, sum(n.charged * coalesce(o.cost, 0)) AS cost,
           sum(CASE WHEN o.cost IS NULL THEN n.charged ELSE 0 END) AS without_cost,
           sum(n.charged * coalesce(o.reported_cost, 0)) AS reported_cost,
           sum(CASE WHEN o.reported_cost IS NULL THEN n.charged ELSE 0 END)
             AS without_reported_cost,
           sum(coalesce(u.returned, 0)) AS returned,
           sum(CASE o.unit WHEN 'token' THEN n.charged * (o.input + o.output) ELSE 0 END) AS tokens,
           sum(CASE o.unit WHEN 'second' THEN n.charged * (o.input + o.output) ELSE 0 END) AS seconds,
           sum(CASE o.unit WHEN 'image' THEN n.charged * o.output ELSE 0 END) AS images,
           sum(CASE o.unit WHEN 'clip' THEN n.charged * o.output ELSE 0 END) AS clips,
           sum(CASE o.unit WHEN 'character' THEN n.charged * o.output ELSE 0 END) AS characters,
           sum(CASE o.unit WHEN 'search' THEN n.charged * o.output ELSE 0 END) AS searches
      FROM (SELECT * FROM unnest(p_organizations, p_orders, p_returned)
                       AS x(organization_id, id, returned)) u
     CROSS JOIN LATERAL (SELECT * FROM orders r
                          WHERE r.organization_id = u.organization_id AND r.id = u.id
                            AND (p_organization IS NULL OR r.organization_id = p_organization)
                         OFFSET 0) o
     CROSS JOIN LATERAL (
       SELECT (u.returned IS NULL)::int AS closed,
              (u.returned IS NULL AND o.state = 'captured')::int AS charged) n
     CROSS JOIN LATERAL (SELECT '' AS name, '' AS value
                         UNION ALL SELECT key, value FROM jsonb_each_text(o.metadata)) tag
     GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
  )
  INSERT INTO usage_sums AS s (organization_id, tag_name, step, start, tag_value, member_id, key_id,
                               model, modality, channel_id, count, failed, charge, cost,
                               without_cost, reported_cost, without_reported_cost,
                               returned, tokens, seconds, images, clips, characters, searches)
    SELECT h.organization_id, h.tag_name, step.name, date_trunc(step.name, h.hour, p_time_zone),
           h.tag_value, h.member_id, h.key_id, h.model, h.modality, h.channel_id, sum(h.count),
           sum(h.failed), sum(h.charge), sum(h.cost), sum(h.without_cost),
           sum(h.reported_cost), sum(h.without_reported_cost), sum(h.returned),
           sum(h.tokens), sum(h.seconds), sum(h.images), sum(h.clips),
           sum(h.characters), sum(h.searches)
      FROM hours h CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS step(name)
     GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ON CONFLICT (organization_id, tag_name, step, start, tag_value, member_id, key_id, model, modality,
                 channel_id)
      DO UPDATE SET count = s.count + excluded.count, failed = s.failed + excluded.failed,
                    charge = s.charge + excluded.charge, cost = s.cost + excluded.cost,
                    without_cost = s.without_cost + excluded.without_cost,
                    reported_cost = s.reported_cost + excluded.reported_cost,
                    without_reported_cost =
                      s.without_reported_cost + excluded.without_reported_cost,
                    returned = s.returned + excluded.returned,
                    tokens = s.tokens + excluded.tokens, seconds = s.seconds + excluded.seconds,
                    images = s.images + excluded.images, clips = s.clips + excluded.clips,
                    characters = s.characters + excluded.characters,
                    searches = s.searches + excluded.searches;
END $$;
