/**
 * Gateway errors in the form of the AI SDK: an `APICallError` with the response body as its `data`.
 */
import { createJsonErrorResponseHandler } from "@ai-sdk/provider-utils"
import { z } from "zod/v4"

/**
 * The common fields of all errors. Some codes have more fields, such as `allowed` and `nearest`,
 * which the README lists by code.
 */
const errorSchema = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
    /** A field of `upstream_error`: false where a retry could create a second paid job. */
    retryable: z.boolean().optional()
  })
})

/** The `data` of an `APICallError` of this provider, where the gateway sent the response. */
export type MediaGatewayErrorData = z.infer<typeof errorSchema>

const retryableStatuses: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504])

const isRetryable = (response: Response, data?: MediaGatewayErrorData): boolean => {
  const isForbidden =
    response.headers.get("x-should-retry") === "false" || data?.error.retryable === false
  return retryableStatuses.has(response.status) && !isForbidden
}

export const errorStructure = {
  errorSchema,
  errorToMessage: ({ error }: MediaGatewayErrorData) => error.message,
  isRetryable
}

export const failedResponseHandler = createJsonErrorResponseHandler(errorStructure)
