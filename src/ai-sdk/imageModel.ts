/**
 * Images from `POST /v1/images/generations`, or from `/v1/images/edits` where the call has input
 * images.
 */
import {
  type ImageModelV4,
  type ImageModelV4CallOptions,
  type ImageModelV4File,
  InvalidResponseDataError,
  type JSONObject,
  type SharedV4Warning
} from "@ai-sdk/provider"
import {
  combineHeaders,
  convertBase64ToUint8Array,
  convertImageModelFileToDataUri,
  convertToFormData,
  createJsonResponseHandler,
  postFormDataToApi,
  postJsonToApi
} from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import {
  makeParameterCheck,
  orderFields,
  seedFields,
  unsupportedWarning
} from "./modelParameters.ts"
import { loadFile } from "./resultFiles.ts"
import { makeSiblingKeys } from "./siblingKeys.ts"

const GENERATIONS = "/images/generations"
const EDITS = "/images/edits"
/** The maximum number of images of one order. */
const MAX_IMAGES = 10

const answerSchema = z.looseObject({
  data: z.array(z.looseObject({ url: z.string().nullish(), b64_json: z.string().nullish() })),
  usage: z
    .looseObject({
      input_tokens: z.number().nullish(),
      output_tokens: z.number().nullish(),
      total_tokens: z.number().nullish()
    })
    .nullish()
})
type Answer = z.infer<typeof answerSchema>
type Entry = Answer["data"][number]

/**
 * Options that a caller must not set: `model` is fixed, and with the others the gateway would
 * respond with a task or an event stream instead of images.
 */
const reservedParameters = ["model", "stream", "partial_images", "callback_url"]

const blobOf = ({ data, mediaType }: ImageModelV4File & { type: "file" }): Blob => {
  const bytes = typeof data === "string" ? convertBase64ToUint8Array(data) : data
  return new Blob([new Uint8Array(bytes)], { type: mediaType })
}

const isFile = (file: ImageModelV4File): file is ImageModelV4File & { type: "file" } =>
  file.type === "file"

/** The metadata of an image: its fields that are texts or numbers, without the image data. */
const factsOf = ({ b64_json: _, ...facts }: Entry): JSONObject =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" ? [[name, value]] : []
    )
  )

const usageOf = ({ usage }: Answer) =>
  usage === null || usage === undefined
    ? {}
    : {
        usage: {
          inputTokens: usage.input_tokens ?? undefined,
          outputTokens: usage.output_tokens ?? undefined,
          totalTokens: usage.total_tokens ?? undefined
        }
      }

export const makeImageModel = (connection: Connection, modelId: string): ImageModelV4 => {
  const acceptsParameter = makeParameterCheck(connection, modelId)
  const keys = makeSiblingKeys()

  const send = async (fields: JSONObject, options: ImageModelV4CallOptions) => {
    const { files = [], mask, abortSignal } = options
    const common = {
      headers: combineHeaders(connection.headers(), options.headers),
      fetch: connection.fetch,
      failedResponseHandler,
      successfulResponseHandler: createJsonResponseHandler(answerSchema),
      ...(abortSignal === undefined ? {} : { abortSignal })
    }
    const post = (path: string, body: JSONObject) =>
      postJsonToApi({ ...common, url: connection.url(path), body })
    if (files.length === 0 && mask === undefined) return post(GENERATIONS, fields)
    if (files.every(isFile) && (mask === undefined || isFile(mask))) {
      const formData = convertToFormData({
        ...fields,
        image: files.map(blobOf),
        mask: mask === undefined ? undefined : blobOf(mask)
      })
      return postFormDataToApi({ ...common, url: connection.url(EDITS), formData })
    }
    // The addresses of input images are sent unchanged, because the vendor loads the images.
    const image = files.map(convertImageModelFileToDataUri)
    const maskField = mask === undefined ? {} : { mask: convertImageModelFileToDataUri(mask) }
    return post(EDITS, { ...fields, image, ...maskField })
  }

  const bytesOf = async ({ url, b64_json }: Entry, signal?: AbortSignal): Promise<Uint8Array> => {
    if (typeof b64_json === "string") return convertBase64ToUint8Array(b64_json)
    if (typeof url === "string") return (await loadFile(connection, url, signal)).data
    throw new InvalidResponseDataError({
      data: [],
      message: "An image of the answer has neither an address nor base64"
    })
  }

  const imagesOf = async ({ data }: Answer, signal?: AbortSignal) => {
    const inline = data.flatMap(({ b64_json }) => (typeof b64_json === "string" ? [b64_json] : []))
    return inline.length === data.length
      ? inline
      : Promise.all(data.map((entry) => bytesOf(entry, signal)))
  }

  const generate = async (options: ImageModelV4CallOptions) => {
    const { prompt, n, size, aspectRatio, seed, abortSignal } = options
    const warnings: Array<SharedV4Warning> = []
    if (aspectRatio !== undefined) {
      warnings.push(unsupportedWarning("aspectRatio", "Give `size` instead."))
    }
    const fields = {
      ...(prompt === undefined ? {} : { prompt }),
      n,
      ...(size === undefined ? {} : { size }),
      ...(await seedFields(seed, acceptsParameter, warnings)),
      ...orderFields(options.providerOptions, reservedParameters, "images are awaited"),
      model: modelId
    }
    const timestamp = new Date()
    const { value, responseHeaders } = await send(fields, options)
    return {
      images: await imagesOf(value, abortSignal),
      // Another order is never the solution: the images of this response are charged already, and
      // another order would be charged too.
      isRetryable: false,
      warnings,
      providerMetadata: { [PROVIDER]: { images: value.data.map(factsOf) } },
      response: { timestamp, modelId, headers: responseHeaders },
      ...usageOf(value)
    }
  }

  return {
    specificationVersion: "v4",
    provider: `${PROVIDER}.image`,
    modelId,
    maxImagesPerCall: MAX_IMAGES,
    doGenerate: (options) =>
      keys(options.headers, options.n, (headers) =>
        generate(headers === undefined ? options : { ...options, headers })
      )
  }
}
