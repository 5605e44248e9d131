/**
 * The HTTP API by which operators read the state of channels, test them for free, and disable or
 * enable them.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { NewAccount } from "../../domain/catalog/CatalogDocument.ts"
import { idParams } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles } from "../../http/api/middlewares.ts"
import {
  arrayOf,
  flag,
  integer,
  list,
  nullable,
  oneOf,
  pageQuery,
  Timestamp,
  text,
  textOrNull
} from "../../http/api/shared.ts"

const status = nullable(Schema.Int, "The vendor's HTTP status; null where it gave no answer")

const cooldownFields = {
  since: Timestamp,
  until: Timestamp,
  reason: text("The reason of the cooldown, such as timeout or credentials_refused"),
  status
}

const cooldownDescription =
  "The cooldown lasts until `until`; then one order is the trial that ends it or begins a longer one"

const CooldownView = Schema.Struct(cooldownFields).annotate({
  identifier: "Rest",
  description: cooldownDescription
})

const modelCooldownFields = {
  model: textOrNull("The model that cools down at the channel; null for the whole channel"),
  ...cooldownFields
}

const ModelCooldownView = Schema.Struct(modelCooldownFields).annotate({
  identifier: "ModelRest",
  description: cooldownDescription
})

const OrganizationCooldownView = Schema.Struct({
  organization_id: text("The organisation whose orders are refused there"),
  ...modelCooldownFields
}).annotate({
  identifier: "OrganizationRest",
  description:
    "An organisation whose own orders fail: its orders are refused while others are served"
})

const percentiles = (description: string) =>
  Schema.Struct({
    p50: nullable(Schema.Int, "Half of them were at most that long; null without any"),
    p95: nullable(Schema.Int, "19 of 20 were at most that long; null without any")
  }).annotate({ description: `${description}, in milliseconds, within a tenth` })

export const ChannelView = Schema.Struct({
  id: text("The channel's id"),
  name: textOrNull("Its name; null for one that has left the catalog while its tasks run"),
  state: oneOf(
    ["closed", "open", "half-open", "draining"],
    "closed takes orders; open takes none, as its vendor fails; half-open takes one that tries; draining is out of use, and its tasks are asked to their end"
  ),
  rest: nullable(ModelCooldownView, "Why it takes no orders; null unless it is open or half-open"),
  model_rests: arrayOf(
    ModelCooldownView,
    "Models that it takes no orders for, as its vendor fails them"
  ),
  slowed_organizations: arrayOf(
    OrganizationCooldownView,
    "Organisations whose orders it takes none of for a while, as its vendor fails these"
  ),
  open_tasks: integer("Video tasks that have not ended"),
  waiting_orders: integer("Orders that wait for a place, where it has `max_tasks`"),
  oldest_wait_seconds: nullable(
    Schema.Int,
    "Seconds for which the oldest of them has waited; null if none waits"
  ),
  calls: integer("Paid calls that ended within the last hour"),
  failures: Schema.Record(Schema.String, Schema.Int).annotate({
    description: "Those of them that the vendor or the account there failed, by reason"
  }),
  refused: integer(
    "Those of them that the vendor refused for their content, which are no failures of the channel"
  ),
  latency_ms: percentiles("How long the others took"),
  completion_lag_ms: percentiles("How late the ends of tasks were noticed at most"),
  drift: arrayOf(
    Schema.Struct({
      model: text("The model"),
      ratio: Schema.Finite.annotate({
        description: "What its orders came to by the vendor's usage, for each unit that was held"
      })
    }),
    "How far the vendor's usage lies from what was expected, within the last hour"
  ),
  last_failure: nullable(
    Schema.Struct({
      at: Timestamp,
      reason: text("In one word"),
      status,
      message: text("The vendor's words, without prompts and credentials")
    }),
    "The last call that failed by the vendor's fault, or for the account there"
  ),
  keys: arrayOf(
    Schema.Struct({
      name: text("What operators call the key"),
      enabled: flag("Whether orders are made with it"),
      stored: flag("Whether it has a value"),
      rest: nullable(CooldownView, "Why it is left alone; null while it works")
    }),
    "Its keys at the vendor"
  )
}).annotate({ identifier: "Channel", description: "A channel, and how it is doing" })
export type ChannelView = typeof ChannelView.Type

export const ChannelCheckView = Schema.Struct({
  protocol: textOrNull("The protocol that was asked by; null where no model is mounted"),
  key: textOrNull("The key that was asked with; null where none is stored"),
  reachable: nullable(Schema.Boolean, "Whether an answer came; null where nothing could be asked"),
  tls: nullable(
    Schema.Boolean,
    "Whether the connection is secure; null for http, or where none came about"
  ),
  credential_accepted: nullable(Schema.Boolean, "Null where the answer does not tell"),
  duration_ms: nullable(Schema.Int, "How long the answer took"),
  message: text("The same in words")
}).annotate({ identifier: "ChannelCheck", description: "One question to the vendor of a channel" })
export type ChannelCheckView = typeof ChannelCheckView.Type

export const AccountCheckView = Schema.Struct({
  ...ChannelCheckView.fields,
  models: nullable(
    Schema.Array(Schema.String),
    "Ids of the models that the vendor lists; null where it lists none"
  )
}).annotate({
  identifier: "AccountCheck",
  description: "The answer of a vendor to a request with an account that is not in the catalog"
})
export type AccountCheckView = typeof AccountCheckView.Type

const params = idParams("channel")

export class ChannelsGroup extends HttpApiGroup.make("channels").add(
  HttpApiEndpoint.get("listChannels", "/channels", {
    query: pageQuery,
    success: list(ChannelView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation("List the channels", "How each of them is doing, in the order of their ids.")
  ),
  HttpApiEndpoint.post("testChannel", "/channels/:id/test", {
    params,
    success: list(ChannelCheckView),
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "Test a channel",
        "Asks its vendor, by each protocol and with each key, something that creates nothing and costs nothing."
      )
    ),
  HttpApiEndpoint.post("testAccount", "/channels/test", {
    payload: NewAccount,
    success: AccountCheckView,
    error: bodyErrors
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "Test a new account",
        "Sends a vendor that is not in the catalog yet a request that creates nothing and costs nothing, and reads its list of models where it has one. Nothing is stored."
      )
    ),
  HttpApiEndpoint.post("drainChannel", "/channels/:id/drain", {
    params,
    success: ChannelView,
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation("Drain a channel", "It takes no more orders, and its tasks are asked to their end.")
    ),
  HttpApiEndpoint.post("enableChannel", "/channels/:id/enable", {
    params,
    success: ChannelView,
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "Enable a channel",
        "The channel takes orders of every organisation, and all cooldowns of it, its models and its keys have ended."
      )
    )
) {}
