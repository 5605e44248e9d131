import { Effect, Option, Schema } from "effect"
import type { HttpServerResponse } from "effect/http"
import { type Call, keyOf, Refusal, type Vendor, type VendorRoute } from "../Vendor.ts"

/** The path segment of each protocol behind a relay. */
const segments = { a: "doubao", d: "kling", e: "vidu", f: "qwen" } as const

export type Family = keyof typeof segments

/** The beginnings of model ids by which a model's family is recognised. */
const families: ReadonlyArray<readonly [start: RegExp, family: Family]> = [
  [/^doubao-/, "a"],
  [/^kling-/, "d"],
  [/^vidu/, "e"],
  [/^(wan\d|qwen-|z-image)/, "f"]
]

/** Model ids with this prefix are forbidden for every key. */
const forbiddenModelPrefix = "forbidden-"

const refusal = (status: number, message: string, code: string) =>
  new Refusal({ status, body: { error: { message, code } } })

const causes: Readonly<Record<number, readonly [message: string, code: string]>> = {
  401: ["The API key is missing or not valid", "invalid_api_key"],
  402: ["The balance is not enough", "insufficient_balance"],
  403: ["No permission", "no_permission"],
  404: ["There is nothing here; the paths of a family start at the host root", "not_found"],
  413: ["The request is too large", "request_too_large"],
  429: ["Too many requests", "rate_limit_exceeded"],
  502: ["The provider refused the request", "provider_error"]
}
const otherCause = ["The request is not valid", "invalid_request"] as const
const ownCause = ["The relay had an error", "internal_error"] as const

/** The relay's own error for a status, the same for all families. */
export const refuse = (status: number): Refusal =>
  refusal(status, ...(causes[status] ?? (status >= 500 ? ownCause : otherCause)))

const unsupportedOperation = () =>
  refusal(400, "The requested operation is unsupported.", "unsupported_operation")

/**
 * Reads the relay's own key as a bearer token. The relay uses this scheme even for families whose
 * vendor has another scheme.
 */
export const authenticate: Vendor["authenticate"] = (headers) =>
  keyOf(headers, "Bearer", () => refuse(401))

const ModelBody = Schema.Struct({
  model: Schema.optionalKey(Schema.String),
  model_name: Schema.optionalKey(Schema.String)
})

const modelOf = ({ body }: Call): string => {
  const namedModel = Option.getOrUndefined(Schema.decodeUnknownOption(ModelBody)(body))
  return namedModel?.model ?? namedModel?.model_name ?? ""
}

/** Checks that the relay itself makes before the family's vendor gets the request. */
const checkModel = (model: string, family: Family): Effect.Effect<void, Refusal> => {
  if (model.startsWith(forbiddenModelPrefix)) return Effect.fail(refuse(403))
  const ownFamily = families.find(([start]) => start.test(model))
  return ownFamily === undefined || ownFamily[1] === family
    ? Effect.void
    : Effect.fail(unsupportedOperation())
}

/**
 * Mounts the routes of a model family under the family's path segment, and runs the relay's checks
 * before each of them. Every other path under the segment is answered as an unsupported operation.
 */
export const relayRoutes = (
  family: Family,
  routes: ReadonlyArray<VendorRoute>
): ReadonlyArray<VendorRoute> => {
  const root = `/${segments[family]}` as const
  const withModelCheck = (handle: VendorRoute["handle"]) => (call: Call) =>
    Effect.andThen(checkModel(modelOf(call), family), handle(call))
  const noRoute = (): Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal> =>
    Effect.fail(unsupportedOperation())
  return [
    ...routes.map(({ method, path, handle }) => ({
      method,
      path: `${root}${path}` as const,
      handle: withModelCheck(handle)
    })),
    { method: "*", path: `${root}/*`, handle: noRoute }
  ]
}
