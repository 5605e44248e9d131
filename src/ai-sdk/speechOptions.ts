/** The options of whole and of streamed speech. */
import type { SharedV4Warning } from "@ai-sdk/provider"
import { unsupportedWarning } from "./modelParameters.ts"

/**
 * Options that a caller must not set: `model` is fixed, and `stream_format` decides whether the sound
 * arrives as a whole or in events.
 */
export const reservedParameters = ["model", "stream_format"]

export const speechWarnings = ({
  language
}: {
  readonly language?: string
}): Array<SharedV4Warning> =>
  language === undefined
    ? []
    : [unsupportedWarning("language", "The text and the voice decide the language.")]
