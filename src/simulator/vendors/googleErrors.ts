import type { Schema } from "effect"
import type { Headers } from "effect/http"
import { type BodyFault, type KeyProblem, plainKeyOf, Refusal } from "../Vendor.ts"

/** An error response of a Google API. */
const refusal = (
  status: number,
  name: string,
  message: string,
  details: ReadonlyArray<Schema.Json> = []
) =>
  new Refusal({
    status,
    body: {
      error: {
        code: status,
        message,
        status: name,
        ...(details.length === 0 ? {} : { details })
      }
    }
  })

export const invalidArgument = (message: string) => refusal(400, "INVALID_ARGUMENT", message)

export const ofFault = ({ path, problem }: BodyFault) => {
  if (path === "") return invalidArgument("Invalid JSON payload received.")
  switch (problem) {
    case "missing":
      return invalidArgument(`* ${path}: ${path} is not specified`)
    case "unexpected": {
      const name = path.split(".").at(-1) ?? path
      return invalidArgument(
        `\`${name}\` isn't supported by this model. Please remove it or refer to the Gemini API documentation for supported usage.`
      )
    }
    case "invalid":
      return invalidArgument(`Invalid value at '${path}'`)
  }
}

/** The vendor reports a wrong key as an invalid argument, whose details have the reason. */
const badKey = (problem: KeyProblem) =>
  problem === "missing"
    ? refusal(
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
      )
    : refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "API_KEY_INVALID",
          domain: "googleapis.com"
        }
      ])

/** The key of a request, from its header or from its query. */
export const authenticate = (headers: Headers.Headers, query: URLSearchParams) =>
  plainKeyOf(headers["x-goog-api-key"] ?? query.get("key") ?? undefined, badKey)

export const noModel = (model: string, method: string) =>
  refusal(
    404,
    "NOT_FOUND",
    `models/${model} is not found for API version v1beta, or is not supported for ${method}. Call ListModels to see the list of available models and their supported methods.`
  )

export const notFound = () => refusal(404, "NOT_FOUND", "Requested entity was not found.")

/** The vendor's name and message of the error for a status. */
const causes: Readonly<Record<number, readonly [name: string, message: string]>> = {
  401: ["UNAUTHENTICATED", "Request had invalid authentication credentials."],
  402: ["FAILED_PRECONDITION", "Please enable billing on your project in Google AI Studio."],
  403: ["PERMISSION_DENIED", "The caller does not have permission."],
  429: ["RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan."],
  503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
  504: ["DEADLINE_EXCEEDED", "Deadline expired before operation could complete."]
}

/** The vendor's error for a status, which `sim:refuse` can request. */
export const refuse = (status: number): Refusal => {
  if (status === 404) return notFound()
  const cause = causes[status]
  if (cause !== undefined) return refusal(status, ...cause)
  return status >= 500
    ? refusal(status, "INTERNAL", "An internal error has occurred.")
    : refusal(status, "INVALID_ARGUMENT", "Request contains an invalid argument.")
}
