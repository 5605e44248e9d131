/** The audio protocols: what their models take of the common standard form. */
import { Array as Arr } from "effect"
import type { VendorParameters } from "../catalog/vendorParameters.ts"
import {
  type Granularity,
  granularities,
  type SpeechFormat,
  speechFormats,
  type TranscriptFormat,
  transcriptFormats
} from "./audioFormats.ts"

export interface AudioFamily {
  /**
   * A pattern of the models' names; the first family of a protocol whose pattern matches counts,
   * or its last family where none does.
   */
  readonly models: RegExp
  /** The vendor-specific fields. */
  readonly parameters: VendorParameters
}

/** What a family of models takes that speaks texts. Voices are not known and stay free texts. */
export interface SpeechFamily extends AudioFamily {
  /** The values of `response_format`. The first one holds where an order names none. */
  readonly formats: Arr.NonEmptyReadonlyArray<SpeechFormat>
  /** The bounds of `speed`; null if the models have no such field. */
  readonly speed: { readonly minimum: number; readonly maximum: number } | null
  /** Whether the models have a field for `instructions`. */
  readonly hasInstructions: boolean
  /** Whether the sound can come in events (`stream_format` `sse`). */
  readonly hasEvents: boolean
}

/** What a family of models takes that transcribes sounds. */
export interface TranscriptionFamily extends AudioFamily {
  /** The values of `response_format`. */
  readonly formats: ReadonlyArray<TranscriptFormat>
  /** The values of `timestamp_granularities`. */
  readonly granularities: ReadonlyArray<Granularity>
  readonly hasLanguage: boolean
  readonly hasPrompt: boolean
  readonly hasTemperature: boolean
  /** Whether the text can come in events (`stream`). */
  readonly hasEvents: boolean
  /** Whether the models translate sounds into English. */
  readonly translates: boolean
}

/** The features of one protocol. Support for a new vendor begins with such a row. */
export interface AudioProtocolRow {
  /** The families that speak texts; null if the protocol speaks none. */
  readonly speech: Arr.NonEmptyReadonlyArray<SpeechFamily> | null
  /** The families that transcribe sounds; null if the protocol transcribes none. */
  readonly transcription: Arr.NonEmptyReadonlyArray<TranscriptionFamily> | null
}

const anyModel = /^/

/** The bounds of `speed` in the common standard form. */
export const standardSpeed = { minimum: 0.25, maximum: 4 } as const

export const audioProtocols = {
  openai: {
    speech: [
      {
        models: anyModel,
        formats: speechFormats,
        speed: standardSpeed,
        hasInstructions: true,
        hasEvents: true,
        parameters: {}
      }
    ],
    transcription: [
      {
        models: anyModel,
        formats: transcriptFormats,
        granularities,
        hasLanguage: true,
        hasPrompt: true,
        hasTemperature: true,
        hasEvents: true,
        translates: true,
        parameters: {}
      }
    ]
  }
} as const satisfies Record<string, AudioProtocolRow>

export type AudioProtocol = keyof typeof audioProtocols

/** The family of an upstream model. */
export const audioFamilyOf = <F extends AudioFamily>(
  families: Arr.NonEmptyReadonlyArray<F>,
  upstreamModel: string
): F => families.find(({ models }) => models.test(upstreamModel)) ?? Arr.lastNonEmpty(families)
