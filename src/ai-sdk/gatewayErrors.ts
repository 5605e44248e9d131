/**
 * Gateway errors in the form of the AI SDK: an `APICallError` with the response body as its `data`.
 */
import { createJsonErrorResponseHandler } from "@ai-sdk/provider-utils"
import { z } from "zod/v4"

/** What is offered in place of a refused value: seconds, or names of resolutions or sizes. */
const allowedSchema = z.union([
  z.looseObject({ min: z.number(), max: z.number(), smart: z.boolean() }),
  z.looseObject({ one_of: z.array(z.number()), smart: z.boolean() }),
  z.array(z.string())
])

/**
 * The common fields of all errors, and those by which a refused order can be corrected. The README
 * lists the fields of each code. An optional field of an unknown form is left out, because the
 * message must not be lost with it.
 */
const errorSchema = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
    /** Fields of `upstream_error`: a retry may succeed, and cannot be a second paid job. */
    retryable: z.boolean().optional(),
    unpaid: z.boolean().optional(),
    /** Fields of `video_sku_invalid`. */
    allowed: allowedSchema.optional().catch(undefined),
    nearest: z.union([z.number(), z.string()]).optional().catch(undefined)
  })
})

/** The `data` of an `APICallError` of this provider, where the gateway sent the response. */
export type MediaGatewayErrorData = z.infer<typeof errorSchema>

const retryableStatuses: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504])

const isRetryable = (response: Response, data?: MediaGatewayErrorData): boolean => {
  const isForbidden =
    response.headers.get("x-should-retry") === "false" ||
    data?.error.retryable === false ||
    data?.error.unpaid === false
  return retryableStatuses.has(response.status) && !isForbidden
}

export const errorStructure = {
  errorSchema,
  errorToMessage: ({ error }: MediaGatewayErrorData) => error.message,
  isRetryable
}

export const failedResponseHandler = createJsonErrorResponseHandler(errorStructure)
