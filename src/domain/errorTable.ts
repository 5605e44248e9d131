/**
 * Every error of the API, one row per code. The table defines the error classes, the HTTP answers,
 * the OpenAPI document, the errors of the typed client, and the table in the README.
 */
import { Schema } from "effect"
import { budgetPeriods, budgetScopes } from "./money/budgets.ts"

export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "billing_error"
  | "rate_limit_error"
  | "upstream_error"
  | "server_error"

/**
 * Whether a client may retry the same request:
 * - `no`: the answer would be the same.
 * - `later`: the client may retry after `retry_after`; if that is null, waiting does not help.
 * - `not by itself`: a person decides; `x-should-retry: false` stops automatic retries of SDKs.
 * - `by its fields`: the error's own fields `retryable` and `unpaid` decide.
 */
export type RetryRule = "no" | "later" | "not by itself" | "by its fields"

export interface ErrorRow {
  /** The HTTP status of the answer; `upstream_error` has other statuses as well. */
  readonly status: number
  readonly type: ErrorType
  readonly meaning: string
  /** The fields of the error in addition to `message`, `type`, `param` and `code`. */
  readonly fields: Schema.Struct.Fields
  readonly retry: RetryRule
  /**
   * Whether a vendor may have begun a paid job for the request, so that a retry could be a second
   * job.
   */
  readonly mayFollowPaidCall: boolean
}

const text = (description: string) => Schema.String.annotate({ description })
const decimal = (description: string) => text(`${description}, a decimal string of currency units`)

const RETRY_AFTER = "Whole seconds until a repeat makes sense, as `Retry-After` says"
/** The field `retry_after` of the JSON body. */
const retryAfterField = { retryAfterSeconds: Schema.Int.annotate({ description: RETRY_AFTER }) }
const nullableRetryAfter = (none: string) => ({
  retryAfterSeconds: Schema.NullOr(Schema.Int).annotate({
    description: `${RETRY_AFTER}; null ${none}`
  })
})

const clientError = {
  type: "invalid_request_error",
  fields: {},
  retry: "no",
  mayFollowPaidCall: false
} as const

export const errorTable = {
  modality_mismatch: {
    ...clientError,
    status: 400,
    meaning: "The model is not of the modality this endpoint serves"
  },
  modality_not_ready: {
    ...clientError,
    status: 400,
    meaning: "The model's modality is not open yet, or no mount of the model serves it"
  },
  video_unsupported_protocol: {
    ...clientError,
    status: 400,
    meaning: "The model is called by a protocol that is not a supported video protocol"
  },
  image_unsupported_protocol: {
    ...clientError,
    status: 400,
    meaning: "The model is called by a protocol that is not one of the image protocols"
  },
  video_sku_invalid: {
    ...clientError,
    status: 400,
    meaning: "The duration, the resolution or the size is not offered",
    // These fields let a client correct the order without reading the message.
    fields: {
      allowed: Schema.Union([
        Schema.Struct({
          min: Schema.Int.annotate({ description: "Least seconds" }),
          max: Schema.Int.annotate({ description: "Most seconds" }),
          smart: Schema.Boolean.annotate({ description: "Whether -1 lets the model choose" })
        }),
        Schema.Struct({
          one_of: Schema.Array(Schema.Int).annotate({ description: "The only seconds there are" }),
          smart: Schema.Boolean.annotate({ description: "Whether -1 lets the model choose" })
        }),
        Schema.Array(Schema.String)
      ]).annotate({ description: "The seconds, the resolutions or the sizes that are offered" }),
      nearest: Schema.Union([Schema.Int, Schema.String]).annotate({
        description: "The offered value nearest to the one that was asked for"
      })
    }
  },
  billing_unavailable: {
    ...clientError,
    status: 400,
    type: "billing_error",
    meaning: "No price is configured for this order, so it cannot be billed",
    fields: {
      priced: Schema.optionalKey(
        Schema.Array(Schema.String).annotate({
          description:
            "The resolutions, qualities or sizes that do have a price, where `param` is what lacks one"
        })
      )
    }
  },
  upstream_error: {
    status: 502,
    type: "upstream_error",
    meaning:
      "The vendor refused, failed or could not be reached; nothing is charged but what a stream that broke off had delivered, and an answer of success that could not be read, as the message says",
    fields: {
      upstream: Schema.Struct({
        status: Schema.NullOr(Schema.Int).annotate({
          description: "HTTP status of the vendor's answer; null when it gave none"
        }),
        body: Schema.Unknown.annotateKey({ description: "The vendor's own body, unchanged" })
      }).annotate({ description: "What the vendor said" }),
      retryable: Schema.Boolean.annotate({
        description:
          "Whether the same request may succeed later: after overload, a rate limit, a time-out or an error of the vendor, and not after a refusal of the order itself"
      }),
      unpaid: Schema.Boolean.annotate({
        description:
          "Whether the vendor certainly began no paid job; false where a repeat could be a second one, as `x-should-retry` says"
      }),
      ...nullableRetryAfter("when the vendor named no time")
    },
    retry: "by its fields",
    mayFollowPaidCall: true
  },
  insufficient_balance: {
    ...clientError,
    status: 402,
    type: "billing_error",
    meaning:
      "The organisation's pool has less than the order holds, or orders under way may come to what it has",
    fields: {
      required: decimal("What the order holds"),
      available: decimal("What the pool has that is not held")
    }
  },
  member_cap_exceeded: {
    status: 429,
    type: "billing_error",
    meaning: "The order would take the member above its cap of this month",
    fields: {
      cap: decimal("The member's cap"),
      used: decimal("What the member's month has held and charged"),
      required: decimal("What the order holds"),
      ...retryAfterField
    },
    // A program must not retry automatically, because the next month may be weeks away.
    retry: "not by itself",
    mayFollowPaidCall: false
  },
  budget_exceeded: {
    status: 429,
    type: "billing_error",
    meaning: "The order would take a budget above its amount; the narrowest one is named",
    fields: {
      budget: text("Id of the budget"),
      scope: Schema.Literals(budgetScopes).annotate({ description: "Whose orders count in it" }),
      period: Schema.Literals(budgetPeriods).annotate({ description: "The time it is for" }),
      amount: decimal("The budget's amount"),
      used: decimal("What the period has held and charged"),
      required: decimal("What the order holds"),
      ...nullableRetryAfter("where the budget never begins again")
    },
    retry: "not by itself",
    mayFollowPaidCall: false
  },
  invalid_api_key: {
    ...clientError,
    status: 401,
    type: "authentication_error",
    meaning:
      "The key is missing, not sent as Bearer, or not valid: mistyped, unknown, revoked and expired keys get one message"
  },
  permission_denied: {
    ...clientError,
    status: 403,
    type: "permission_error",
    meaning: "The key lacks the scope of this route, or may not call this model"
  },
  model_not_found: { ...clientError, status: 404, meaning: "No model has this name" },
  task_not_found: {
    ...clientError,
    status: 404,
    meaning: "The organisation has no task with this id"
  },
  task_processing: {
    ...clientError,
    status: 409,
    meaning: "The task is still processing: it can be deleted when it has ended",
    fields: retryAfterField,
    retry: "later"
  },
  price_list_in_use: {
    ...clientError,
    status: 409,
    meaning: "The price list cannot be removed while organisations are on it",
    fields: {
      organizations: Schema.Int.annotate({ description: "How many organisations are on it" })
    }
  },
  not_found: { ...clientError, status: 404, meaning: "There is no such thing" },
  method_not_allowed: {
    ...clientError,
    status: 405,
    meaning: "The path is served, but not by this method",
    fields: {
      allow: Schema.Array(Schema.String).annotate({ description: "The methods that are served" })
    }
  },
  payload_too_large: {
    ...clientError,
    status: 413,
    meaning:
      "The body has more bytes than this route takes, or the organisation keeps as many files as it may"
  },
  unsupported_media_type: {
    ...clientError,
    status: 415,
    meaning: "The body is of another media type, or has a content encoding"
  },
  invalid_request: {
    ...clientError,
    status: 400,
    meaning: "A field has the wrong shape",
    fields: {
      faults: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            path: text("Path of the field; of a vendor's list, the name of the column"),
            message: text("What was expected of it"),
            line: Schema.optionalKey(Schema.Int.annotate({ description: "Of a list: the line" }))
          })
        ).annotate({ description: "Every fault, where there are several" })
      )
    }
  },
  idempotency_conflict: {
    ...clientError,
    status: 409,
    meaning:
      "The first request with this Idempotency-Key is still running, or its answer is not kept",
    fields: nullableRetryAfter("where waiting does not help"),
    retry: "later"
  },
  idempotency_mismatch: {
    ...clientError,
    status: 422,
    meaning:
      "The Idempotency-Key was used for another request, or a deposit's reference for another amount"
  },
  precondition_failed: {
    ...clientError,
    status: 412,
    meaning: "The catalog was changed since the version that `If-Match` names: read it again",
    fields: {
      version: Schema.Int.annotate({ description: "The version in force" }),
      changed: Schema.Array(
        Schema.Struct({
          version: Schema.Int.annotate({ description: "The version that was made" }),
          by: Schema.NullOr(text("Who made it; null where no operator did")),
          at: text("When, ISO 8601 in UTC")
        })
      ).annotate({ description: "Who changed it since, the oldest change first" })
    }
  },
  channel_unavailable: {
    ...clientError,
    status: 503,
    type: "server_error",
    meaning:
      "The model has no enabled mount, or its channels lack what they need or cool down because their vendors fail",
    fields: {
      retryAfterSeconds: Schema.optionalKey(
        Schema.Int.annotate({ description: `${RETRY_AFTER}, where that is known` })
      )
    }
  },
  rate_limited: {
    status: 429,
    type: "rate_limit_error",
    meaning:
      "More requests than this key, its organisation or the model's channel may have at a time",
    fields: retryAfterField,
    retry: "later",
    mayFollowPaidCall: false
  },
  overloaded: {
    status: 503,
    type: "server_error",
    meaning: "The gateway cannot take the request at the moment; nothing was ordered",
    fields: retryAfterField,
    retry: "later",
    mayFollowPaidCall: false
  },
  internal_error: {
    status: 500,
    type: "server_error",
    meaning:
      "A fault of the gateway; an order may have come through, so it is not repeated by itself",
    fields: {},
    retry: "not by itself",
    mayFollowPaidCall: true
  }
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable
