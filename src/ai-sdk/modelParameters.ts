/**
 * The fields of an order in addition to the options of the AI SDK, and the parameters of a model,
 * read from `GET /v1/models/{id}`.
 */
import {
  InvalidArgumentError,
  type JSONObject,
  type SharedV4ProviderOptions,
  type SharedV4Warning
} from "@ai-sdk/provider"
import { createJsonResponseHandler, getFromApi } from "@ai-sdk/provider-utils"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import { modelSchema } from "./models.ts"

const parametersSchema = modelSchema.pick({ parameters: true })

/**
 * Returns a function that tells whether a model has a parameter. The parameters are read at the
 * first call. Where they cannot be read, the result is false, and the next call reads them again.
 */
export const makeParameterCheck = (connection: Connection, modelId: string) => {
  let parameterNames: Promise<ReadonlySet<string>> | undefined
  const readParameterNames = async (): Promise<ReadonlySet<string>> => {
    const { value } = await getFromApi({
      url: connection.url(`/models/${encodeURIComponent(modelId)}`),
      headers: connection.headers(),
      fetch: connection.fetch,
      validateUrl: false,
      successfulResponseHandler: createJsonResponseHandler(parametersSchema),
      failedResponseHandler
    })
    return new Set(Object.keys(value.parameters ?? {}))
  }
  return async (name: string): Promise<boolean> => {
    parameterNames ??= readParameterNames()
    try {
      return (await parameterNames).has(name)
    } catch {
      parameterNames = undefined
      return false
    }
  }
}

export const unsupportedWarning = (feature: string, details?: string): SharedV4Warning => ({
  type: "unsupported",
  feature,
  ...(details === undefined ? {} : { details })
})

/**
 * Returns the seed as a field of the order. Where the model does not accept a seed, adds a warning
 * instead.
 */
export const seedFields = async (
  seed: number | undefined,
  acceptsParameter: (name: string) => Promise<boolean>,
  warnings: Array<SharedV4Warning>
): Promise<{ readonly seed?: number }> => {
  if (seed === undefined) return {}
  if (await acceptsParameter("seed")) return { seed }
  warnings.push(unsupportedWarning("seed", "This model does not tell that it takes a seed."))
  return {}
}

/**
 * Returns the fields of `providerOptions` for the order. Refuses a reserved field: it would change
 * the model, or the answer into another form than the AI SDK awaits.
 */
export const orderFields = (
  options: SharedV4ProviderOptions | undefined,
  reserved: ReadonlyArray<string>,
  awaited: string
): JSONObject => {
  const fields = options?.[PROVIDER] ?? {}
  const refused = reserved.find((name) => fields[name] !== undefined && fields[name] !== false)
  if (refused === undefined) return fields
  throw new InvalidArgumentError({
    argument: `providerOptions.${PROVIDER}.${refused}`,
    message: `providerOptions.${PROVIDER}.${refused} cannot be given: ${awaited} here.`
  })
}
