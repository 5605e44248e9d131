/** What the protocols of the Gemini API share: addresses, the key, errors, and inline media. */
import { Option, Redacted, Result, Schema } from "effect"
import { isFileId } from "../../domain/mediaUrls.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { meanings, refusalTable, type Shape } from "../wire/refusalTable.ts"
import { localRefusal } from "../wire/vendorFailures.ts"
import { get, rootOf } from "../wire/vendorRequest.ts"
import type { ModelListDialect } from "./accountCheck.ts"

/** The URL of a path; the base address may already end in the version of the API. */
export const googleUrl = (account: ChannelAccount, path: string): string =>
  `${rootOf(account, "/v1beta")}/v1beta/${path}`

export const googleKey = (account: ChannelAccount) => ({
  "x-goog-api-key": Redacted.value(account.apiKey)
})

/** The URL of a model's method; the id of a model may begin with `models/`, as in Google's lists. */
export const methodUrl = (account: ChannelAccount, upstreamModel: string, method: string): string =>
  googleUrl(
    account,
    `models/${encodeURIComponent(upstreamModel.replace(/^models\//, ""))}:${method}`
  )

// Errors

const isGoogleError = Schema.is(
  Schema.Struct({
    error: Schema.Struct({
      message: Schema.NonEmptyString,
      status: Schema.NonEmptyString,
      details: Schema.optional(Schema.Unknown)
    })
  })
)
const isErrorInfo = Schema.is(Schema.Struct({ reason: Schema.NonEmptyString }))

const reasonsIn = (details: unknown): ReadonlyArray<string> =>
  Array.isArray(details) ? details.filter(isErrorInfo).map(({ reason }) => reason) : []

/** The shape `{error: {code, message, status, details: [{reason}]}}`. */
export const googleErrorShape: Shape = (body) =>
  isGoogleError(body) ? [...reasonsIn(body.error.details), body.error.status] : null

/** The meanings of Google's reasons and statuses; a reason is more specific than its status. */
export const googleCodes = {
  API_KEY_HTTP_REFERRER_BLOCKED: meanings.access,
  API_KEY_INVALID: meanings.credentials,
  API_KEY_IP_ADDRESS_BLOCKED: meanings.access,
  API_KEY_SERVICE_BLOCKED: meanings.access,
  BILLING_DISABLED: meanings.balance,
  CONSUMER_INVALID: meanings.access,
  CONSUMER_SUSPENDED: meanings.access,
  DEADLINE_EXCEEDED: meanings.timeout,
  // Google answers HTTP 400 if the account's country or its billing does not allow the call.
  FAILED_PRECONDITION: meanings.access,
  INTERNAL: meanings.uncertain,
  INVALID_ARGUMENT: meanings.order,
  NOT_FOUND: meanings.model,
  PERMISSION_DENIED: meanings.access,
  RATE_LIMIT_EXCEEDED: meanings.rate,
  RESOURCE_EXHAUSTED: meanings.rate,
  SERVICE_DISABLED: meanings.access,
  UNAUTHENTICATED: meanings.credentials,
  UNAVAILABLE: meanings.overload
}

export const googleRefusals = refusalTable([googleErrorShape], googleCodes)

/** A refusal by the adapter itself, in Google's form; `param` is the field of the client's order. */
export const refuseArgument = (message: string, param?: string) =>
  Result.fail(
    localRefusal(message, {
      error: {
        code: 400,
        message,
        status: "INVALID_ARGUMENT",
        ...(param === undefined ? {} : { param })
      }
    })
  )

// Media

/** A medium whose bytes are part of the request. */
export interface InlineMedium {
  readonly mimeType: string
  /** The bytes in base64. */
  readonly data: string
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[^;,]*)*;base64,/i

/**
 * The bytes of a medium; undefined for an address, which Google does not load. A file of the
 * organisation has no bytes yet when an order is checked before its hold.
 */
export const inlineMedium = (url: string): InlineMedium | undefined => {
  if (isFileId(url)) return { mimeType: "image/png", data: "" }
  const [head, mimeType] = dataUrl.exec(url.slice(0, 200)) ?? []
  return head === undefined || mimeType === undefined
    ? undefined
    : { mimeType: mimeType.toLowerCase(), data: url.slice(head.length) }
}

// Models

const decodeModels = Schema.decodeUnknownOption(
  Schema.Struct({
    models: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        supportedGenerationMethods: Schema.optional(Schema.Array(Schema.String))
      })
    )
  })
)

/** Lists the models that have a method and whose ids match. */
export const googleModels = (method: string, ids: RegExp): ModelListDialect => ({
  listRequest: (account) =>
    Result.succeed(get(googleUrl(account, "models?pageSize=1000"), googleKey(account))),
  idsIn: (body) =>
    Option.getOrNull(
      Option.map(decodeModels(body), ({ models }) =>
        models.flatMap(({ name, supportedGenerationMethods = [] }) => {
          const id = name.replace(/^models\//, "")
          return supportedGenerationMethods.includes(method) && ids.test(id) ? [id] : []
        })
      )
    )
})
