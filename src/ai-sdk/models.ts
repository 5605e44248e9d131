/** The models that a key may order with their limits, as `GET /v1/models` lists them. */
import { createJsonResponseHandler, getFromApi } from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import type { Connection } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"

/**
 * The fields of a model by which an order can be checked beforehand, in the names of the gateway's
 * API. Other fields are passed on, but have no type here.
 */
export const modelSchema = z.looseObject({
  id: z.string(),
  aliases: z.array(z.string()).optional(),
  /** Such as `video`, `image`, `chat` or `embedding`. */
  modality: z.string(),
  /** `open` if the modality can be ordered. */
  status: z.string(),
  /** Of video models: the seconds; `only` lists them where not all between the bounds are offered. */
  durations: z
    .looseObject({
      min: z.number(),
      max: z.number(),
      only: z.array(z.number()).optional(),
      default: z.number(),
      smart: z.boolean()
    })
    .optional(),
  resolutions: z.array(z.string()).optional(),
  /** Of video models: the only aspect ratios; missing if any can be ordered. */
  ratios: z.array(z.string()).optional(),
  /** Of video models: the most characters of all texts, if that is limited. */
  max_prompt: z.number().optional(),
  /** Of video models of which an order can list the shots: how many, and their seconds. */
  shots: z
    .looseObject({ max: z.number(), seconds: z.looseObject({ min: z.number(), max: z.number() }) })
    .optional(),
  /** Of video models: false if a video without sound, or one with sound, cannot be ordered. */
  silent: z.boolean().optional(),
  sound: z.boolean().optional(),
  /** Of image models: the images of one order. */
  images: z.looseObject({ min: z.number(), max: z.number(), default: z.number() }).optional(),
  /** Of image models: the input images of an edit; null if there are no edits. */
  references: z.looseObject({ max: z.number(), mask: z.boolean() }).nullish(),
  /** The fields of the vendor's own, which `providerOptions.mediaGateway` can have. */
  parameters: z.record(z.string(), z.looseObject({ type: z.string() })).optional(),
  currency: z.string(),
  /** The price table, in the form of the catalog; null if the model cannot be ordered yet. */
  prices: z.looseObject({ kind: z.string() }).nullable()
})
export type MediaGatewayModel = z.infer<typeof modelSchema>

const listSchema = z.looseObject({ data: z.array(modelSchema) })

export interface ListModelsOptions {
  /** Only models of this modality. */
  readonly modality?: string
  readonly abortSignal?: AbortSignal
}

export const makeListModels =
  (connection: Connection) =>
  async ({
    modality,
    abortSignal
  }: ListModelsOptions = {}): Promise<ReadonlyArray<MediaGatewayModel>> => {
    const query = modality === undefined ? "" : `?${new URLSearchParams({ modality }).toString()}`
    const { value } = await getFromApi({
      url: connection.url(`/models${query}`),
      headers: connection.headers(),
      fetch: connection.fetch,
      validateUrl: false,
      successfulResponseHandler: createJsonResponseHandler(listSchema),
      failedResponseHandler,
      ...(abortSignal === undefined ? {} : { abortSignal })
    })
    return value.data
  }
