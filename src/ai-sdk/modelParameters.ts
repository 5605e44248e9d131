/** What a model takes beside the common fields, as `GET /v1/models/{id}` tells it. */
import type { SharedV4Warning } from "@ai-sdk/provider"
import { createJsonResponseHandler, getFromApi } from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import type { Connection } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"

const modelSchema = z.looseObject({
  parameters: z.record(z.string(), z.unknown()).optional()
})

/** Asked once for a model. A gateway that does not tell takes none. */
export const makeTakes = (connection: Connection, modelId: string) => {
  let known: Promise<ReadonlySet<string>> | undefined
  const ask = async (): Promise<ReadonlySet<string>> => {
    const { value } = await getFromApi({
      url: connection.url(`/models/${encodeURIComponent(modelId)}`),
      headers: connection.headers(),
      fetch: connection.fetch,
      validateUrl: false,
      successfulResponseHandler: createJsonResponseHandler(modelSchema),
      failedResponseHandler
    })
    return new Set(Object.keys(value.parameters ?? {}))
  }
  return async (name: string): Promise<boolean> => {
    known ??= ask()
    try {
      return (await known).has(name)
    } catch {
      known = undefined
      return false
    }
  }
}

export const unsupported = (feature: string, details?: string): SharedV4Warning => ({
  type: "unsupported",
  feature,
  ...(details === undefined ? {} : { details })
})

/** A seed as a field of the order, or the warning that this model has none. */
export const seedFields = async (
  seed: number | undefined,
  takes: (name: string) => Promise<boolean>,
  warnings: Array<SharedV4Warning>
): Promise<{ readonly seed?: number }> => {
  if (seed === undefined) return {}
  if (await takes("seed")) return { seed }
  warnings.push(unsupported("seed", "This model does not tell that it takes a seed."))
  return {}
}
