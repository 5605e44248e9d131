/** Spoken texts from `POST /v1/audio/speech`, as whole sounds. */
import type {
  JSONObject,
  SharedV4Warning,
  SpeechModelV4,
  SpeechModelV4CallOptions
} from "@ai-sdk/provider"
import { combineHeaders, createBinaryResponseHandler, postJsonToApi } from "@ai-sdk/provider-utils"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import { orderFields, unsupportedWarning } from "./modelParameters.ts"

/**
 * Options that a caller must not set: `model` is fixed, and `stream_format` would turn the sound
 * into events.
 */
const reservedParameters = ["model", "stream_format"]

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

const warningsOf = ({ language }: SpeechModelV4CallOptions): Array<SharedV4Warning> =>
  language === undefined
    ? []
    : [unsupportedWarning("language", "The text and the voice decide the language.")]

export const makeSpeechModel = (connection: Connection, modelId: string): SpeechModelV4 => ({
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
      warnings: warningsOf(options),
      response: { timestamp, modelId, ...(headers === undefined ? {} : { headers }) }
    }
  }
})
