/** Spoken texts from `POST /v1/audio/speech`, as whole sounds or in parts. */
import type {
  JSONObject,
  SpeechModelV4CallOptions,
  Experimental_StreamingSpeechModelV4 as StreamingSpeechModelV4
} from "@ai-sdk/provider"
import { combineHeaders, createBinaryResponseHandler, postJsonToApi } from "@ai-sdk/provider-utils"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import { orderFields } from "./modelParameters.ts"
import { reservedParameters, speechWarnings } from "./speechOptions.ts"
import { streamSpeech } from "./speechStream.ts"

const bodyOf = (modelId: string, options: SpeechModelV4CallOptions): JSONObject => {
  const { text, voice, outputFormat, instructions, speed, providerOptions } = options
  return {
    input: text,
    voice,
    response_format: outputFormat,
    instructions,
    speed,
    ...orderFields(providerOptions, reservedParameters, "a whole sound is awaited"),
    model: modelId
  }
}

export const makeSpeechModel = (
  connection: Connection,
  modelId: string
): StreamingSpeechModelV4 => ({
  specificationVersion: "v4",
  provider: `${PROVIDER}.speech`,
  modelId,
  doGenerate: async (options) => {
    const body = bodyOf(modelId, options)
    const timestamp = new Date()
    const { value, responseHeaders: headers } = await postJsonToApi({
      url: connection.url("/audio/speech"),
      headers: combineHeaders(connection.headers(), options.headers),
      fetch: connection.fetch,
      body,
      failedResponseHandler,
      successfulResponseHandler: createBinaryResponseHandler(),
      ...(options.abortSignal === undefined ? {} : { abortSignal: options.abortSignal })
    })
    return {
      audio: value,
      warnings: speechWarnings(options),
      response: { timestamp, modelId, ...(headers === undefined ? {} : { headers }) }
    }
  },
  doStream: (options) => streamSpeech(connection, modelId, options)
})
