/** Errors in the common standard form (OpenAI's API), which several vendors share. */
import { type BodyFault, Refusal } from "../Vendor.ts"
import { eventOf } from "./partStream.ts"

const refusal = (
  status: number,
  type: string,
  code: string | null,
  message: string,
  param: string | null = null
) => new Refusal({ status, body: { error: { message, type, param, code } } })

export const invalid = (param: string, message: string) =>
  refusal(400, "invalid_request_error", "invalid_request", message, param)

export const ofFault = ({ path, problem }: BodyFault) => {
  if (path === "") {
    return refusal(
      400,
      "invalid_request_error",
      "invalid_request",
      "the body must be a JSON object"
    )
  }
  return invalid(path, problem === "missing" ? `${path} is required` : `${path} is not valid`)
}

export const badKey = () =>
  refusal(401, "invalid_request_error", "invalid_api_key", "The API key is missing or incorrect")

export const refuse = (status: number): Refusal => {
  switch (status) {
    case 401:
      return badKey()
    case 402:
      return refusal(402, "insufficient_quota", "insufficient_quota", "The balance is not enough")
    case 404:
      return refusal(404, "invalid_request_error", "not_found", "There is no such address")
    case 429:
      return refusal(429, "rate_limit_error", "rate_limit_exceeded", "The rate limit was exceeded")
    default:
      return status >= 500
        ? refusal(status, "server_error", null, "The server had an error")
        : refusal(status, "invalid_request_error", "invalid_request", "The request is not valid")
  }
}

export const refusedContent = (code: string) =>
  refusal(400, "invalid_request_error", code, "The request was refused by the safety system")

export const missingModel = (model: string) =>
  refusal(
    404,
    "invalid_request_error",
    "model_not_found",
    `The model ${model} does not exist`,
    "model"
  )

export const moderatedInput = () => refusedContent("content_policy_violation")

/** The event of an error in a stream of speech. */
export const errorEvent = eventOf(
  JSON.stringify({
    type: "error",
    error: { message: "The server had an error", type: "server_error", code: "overloaded" }
  })
)
