/** What an operator asks when something is stuck, and what was done through the admin interface. */
import { Effect, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { plainText } from "../../domain/text.ts"
import { AdminAuditing } from "./AdminAuditing.ts"
import { AdminAuthorization } from "./Authorization.ts"
import { RequestRules } from "./RequestRules.ts"
import { list, pageQuery, SignedAmount, Timestamp, UsageEntry } from "./shared.ts"

const TextOrNull = Schema.NullOr(Schema.String)
const TimestampOrNull = Schema.NullOr(Timestamp)

export const OrphanView = Schema.Struct({
  /** Of the task, image or text request. */
  id: Schema.String,
  organization_id: Schema.String,
  channel: Schema.String,
  protocol: Schema.String,
  upstream_model: Schema.String,
  upstream_id: TextOrNull,
  reason: Schema.String,
  amount_held: SignedAmount,
  created_at: Timestamp,
  resolved_at: TimestampOrNull,
  note: TextOrNull
})

const Transition = Schema.Struct({ state: Schema.String, at: Timestamp, by: Schema.String })

/** Consecutive polls with the same end are one entry: its answer is the newest one's. */
const UpstreamCall = Schema.Struct({
  id: Schema.String,
  purpose: Schema.Literals(["submit", "poll", "image", "text"]),
  method: Schema.String,
  url: Schema.String,
  status: Schema.NullOr(Schema.Int),
  failure: TextOrNull,
  started_at: Timestamp,
  duration_ms: Schema.Int,
  repeats: Schema.Int,
  last_at: Timestamp,
  request: Schema.Unknown,
  answer: Schema.Unknown
})

/** `usage` carries the usage record, and its charge as `amount`. */
const LedgerEntry = Schema.Struct({
  kind: Schema.Literals(["hold", "capture", "overage", "usage", "release"]),
  amount: SignedAmount,
  at: Timestamp,
  usage: Schema.optionalKey(UsageEntry)
})

const Quote = Schema.Struct({
  kind: Schema.Literals(["token_video", "second_video", "image", "tokens"]),
  amount: SignedAmount,
  /** Currency units per token, second or image. */
  unit_price: SignedAmount,
  resolution: Schema.optionalKey(Schema.String),
  tier: Schema.optionalKey(Schema.String),
  with_video: Schema.optionalKey(Schema.Boolean),
  smart: Schema.optionalKey(Schema.Boolean),
  input_seconds: Schema.optionalKey(Schema.Int),
  output_seconds: Schema.optionalKey(Schema.Int),
  estimated_tokens: Schema.optionalKey(Schema.Int),
  images: Schema.optionalKey(Schema.Int),
  /** Of a text, whose `unit_price` is of output tokens. */
  input_unit_price: Schema.optionalKey(SignedAmount),
  input_tokens: Schema.optionalKey(Schema.Int),
  output_tokens: Schema.optionalKey(Schema.Int)
})

/** Null where image and text requests, which are their holds, have nothing of the kind. */
export const TimelineView = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["video", "image", "text"]),
  organization_id: Schema.String,
  member_id: Schema.String,
  key_id: TextOrNull,
  model: TextOrNull,
  channel: Schema.String,
  protocol: Schema.String,
  listed_protocol: TextOrNull,
  upstream_model: Schema.String,
  upstream_id: TextOrNull,
  state: Schema.String,
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String })),
  completion_tokens: Schema.NullOr(Schema.Int),
  summary: Schema.Unknown,
  quote: Quote,
  created_at: Timestamp,
  submit_deadline: TimestampOrNull,
  deadline: Timestamp,
  asked_at: TimestampOrNull,
  next_poll_at: TimestampOrNull,
  unknown_since: TimestampOrNull,
  idempotency_key: Schema.Boolean,
  transitions: Schema.Array(Transition),
  upstream_calls: Schema.Array(UpstreamCall),
  /** More than are listed where there were very many: the newest are. */
  upstream_calls_total: Schema.Int,
  ledger: Schema.Array(LedgerEntry),
  orphan: Schema.NullOr(OrphanView)
})

export const AuditView = Schema.Struct({
  id: Schema.String,
  at: Timestamp,
  action: Schema.String,
  subject_id: TextOrNull,
  fields: Schema.Unknown,
  request_id: Schema.String,
  status: Schema.Int
})

export class HistoryGroup extends HttpApiGroup.make("history")
  .add(
    HttpApiEndpoint.get("readTask", "/tasks/:id", {
      params: { id: Schema.String },
      success: TimelineView
    }),
    HttpApiEndpoint.get("listOrphans", "/orphans", {
      query: {
        ...pageQuery,
        resolved: Schema.Literals(["true", "false"]).pipe(
          Schema.withDecodingDefaultKey(Effect.succeed("false" as const))
        )
      },
      success: list(OrphanView)
    }),
    HttpApiEndpoint.post("resolveOrphan", "/orphans/:id/resolve", {
      params: { id: Schema.String },
      payload: Schema.Struct({ note: plainText(500) }),
      success: OrphanView
    }),
    HttpApiEndpoint.get("listAudit", "/audit", { query: pageQuery, success: list(AuditView) })
  )
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .middleware(RequestRules)
  .middleware(AdminAuditing)
  .middleware(AdminAuthorization)
  .prefix("/admin/v1") {}
