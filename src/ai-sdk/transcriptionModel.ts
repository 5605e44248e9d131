/** Transcriptions from `POST /v1/audio/transcriptions`. */
import type {
  JSONObject,
  TranscriptionModelV4,
  TranscriptionModelV4CallOptions
} from "@ai-sdk/provider"
import {
  combineHeaders,
  convertUint8ArrayToBase64,
  createJsonResponseHandler,
  postJsonToApi
} from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import { orderFields } from "./modelParameters.ts"

/**
 * Options that a caller must not set: `model` and `file` are fixed, and `stream` would turn the text
 * into events.
 */
const reservedParameters = ["model", "file", "stream"]

const answerSchema = z.looseObject({
  text: z.string(),
  language: z.string().nullish(),
  duration: z.coerce.number().nullish(),
  usage: z.looseObject({ seconds: z.number().nullish() }).nullish(),
  segments: z
    .array(z.looseObject({ text: z.string(), start: z.number(), end: z.number() }))
    .nullish()
})

const bodyOf = (
  modelId: string,
  { audio, mediaType, providerOptions }: TranscriptionModelV4CallOptions
): JSONObject => {
  const base64 = typeof audio === "string" ? audio : convertUint8ArrayToBase64(audio)
  return {
    ...orderFields(providerOptions, reservedParameters, "a whole text is awaited"),
    file: `data:${mediaType};base64,${base64}`,
    model: modelId
  }
}

export const makeTranscriptionModel = (
  connection: Connection,
  modelId: string
): TranscriptionModelV4 => ({
  specificationVersion: "v4",
  provider: `${PROVIDER}.transcription`,
  modelId,
  doGenerate: async (options) => {
    const timestamp = new Date()
    const {
      value,
      rawValue,
      responseHeaders: headers
    } = await postJsonToApi({
      url: connection.url("/audio/transcriptions"),
      headers: combineHeaders(connection.headers(), options.headers),
      fetch: connection.fetch,
      body: bodyOf(modelId, options),
      failedResponseHandler,
      successfulResponseHandler: createJsonResponseHandler(answerSchema),
      ...(options.abortSignal === undefined ? {} : { abortSignal: options.abortSignal })
    })
    return {
      text: value.text,
      segments: (value.segments ?? []).map(({ text, start, end }) => ({
        text,
        startSecond: start,
        endSecond: end
      })),
      language: value.language ?? undefined,
      durationInSeconds: value.duration ?? value.usage?.seconds ?? undefined,
      warnings: [],
      response: {
        timestamp,
        modelId,
        ...(headers === undefined ? {} : { headers }),
        body: rawValue
      }
    }
  }
})
