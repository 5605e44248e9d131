/**
 * The fields of spoken texts and of transcriptions beside the text or the sound, as clients are
 * told of them.
 */
import type { VendorParameter, VendorParameters } from "../catalog/vendorParameters.ts"
import { MAX_TEMPERATURE } from "../transcription/TranscriptionRequest.ts"
import type { SpeechFamily, TranscriptionFamily } from "./AudioProtocol.ts"

/** The fields that a family has: those without null. */
const existing = (fields: Readonly<Record<string, VendorParameter | null>>): VendorParameters => {
  const parameters: Record<string, VendorParameter> = {}
  for (const [name, parameter] of Object.entries(fields)) {
    if (parameter !== null) parameters[name] = parameter
  }
  return parameters
}

const textOf = (isField: boolean, description: string): VendorParameter | null =>
  isField ? { type: "text", description } : null

const VOICE = "A voice of the model; the vendor's own when left out"

/** The fields of a family that speaks. Voices are free texts unless the catalog lists them. */
export const speechParameters = (
  { formats, speed, hasInstructions, hasEvents, parameters }: SpeechFamily,
  voices: ReadonlyArray<string> | undefined
): VendorParameters => ({
  ...parameters,
  ...existing({
    voice:
      voices === undefined
        ? textOf(true, VOICE)
        : { type: "choice", values: voices, description: VOICE },
    instructions: textOf(hasInstructions, "How the text is spoken"),
    response_format: {
      type: "choice",
      values: formats,
      description: "The format of the sound; the first one when left out"
    },
    speed: speed && {
      type: "number",
      ...speed,
      description: "How fast the text is spoken; 1 when left out"
    },
    stream_format: {
      type: "choice",
      values: hasEvents ? ["audio", "sse"] : ["audio"],
      description: "Whether the sound comes as its bytes or in server-sent events"
    }
  })
})

/** The fields of a family that transcribes. */
export const transcriptionParameters = (family: TranscriptionFamily): VendorParameters => ({
  ...family.parameters,
  ...existing({
    language: textOf(family.hasLanguage, "The language of the sound, such as en"),
    prompt: textOf(
      family.hasPrompt,
      "A text that guides the spelling, or continues an earlier part"
    ),
    response_format: {
      type: "choice",
      values: family.formats,
      description: "The form of the answer; json when left out"
    },
    temperature: family.hasTemperature
      ? {
          type: "number",
          minimum: 0,
          maximum: MAX_TEMPERATURE,
          description: "How freely the model chooses words"
        }
      : null,
    timestamp_granularities:
      family.granularities.length === 0
        ? null
        : {
            type: "list",
            values: family.granularities,
            description: "Which times verbose_json has"
          },
    stream: family.hasEvents
      ? {
          type: "boolean",
          default: false,
          description: "Whether the text comes in server-sent events"
        }
      : null
  })
})
