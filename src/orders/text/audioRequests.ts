/** Requests of spoken texts and of transcriptions. */
import { type Array as Arr, Effect, type Result, Stream } from "effect"
import { type AudioFamily, audioFamilyOf } from "../../domain/audio/AudioProtocol.ts"
import { type SoundFormat, soundFormats, soundLength } from "../../domain/audio/soundLength.ts"
import { limitsOf } from "../../domain/catalog/ModelLimits.ts"
import { InvalidRequest, Overloaded } from "../../domain/Errors.ts"
import { filesIn, isFileId } from "../../domain/mediaUrls.ts"
import { metadataOf } from "../../domain/money/metadata.ts"
import type { SoundLengths } from "../../domain/money/unitQuotes.ts"
import {
  checkVoice,
  type SpeechBody,
  speechContentType
} from "../../domain/speech/SpeechRequest.ts"
import { estimateSpeech } from "../../domain/speech/speechEstimate.ts"
import {
  soundOf,
  type TranscriptionBody,
  type TranscriptionSettings,
  transcriptionContentType
} from "../../domain/transcription/TranscriptionRequest.ts"
import {
  estimateTranscription,
  soundLengths
} from "../../domain/transcription/transcriptionEstimate.ts"
import type { Caller } from "../../services/Access.ts"
import { makeFileBytes } from "../../services/files/fileBytes.ts"
import type {
  SpeechAdapter,
  TranscriptionAdapter,
  TranscriptionOrder
} from "../../services/ProtocolAdapter.ts"
import { type ModelRefusal, makeModelCheck } from "../OrderChecks.ts"
import {
  noLimits,
  type WholeRequest,
  type WorkRequest,
  type WorkService
} from "../OrderResolution.ts"
import { makeFindFiles } from "../orderFiles.ts"
import type { StreamedRequest } from "./streamedWork.ts"

/** The adapter of a protocol, whose models answer as their families do. */
const audioService = <Family extends AudioFamily, Adapter>(
  families: Arr.NonEmptyReadonlyArray<Family> | null | undefined,
  adapter: Adapter | undefined,
  contentTypeOf: (family: Family) => Result.Result<string, InvalidRequest>
): WorkService<Adapter> | undefined =>
  adapter === undefined || families === undefined || families === null
    ? undefined
    : {
        adapter,
        contentType: (upstreamModel) => contentTypeOf(audioFamilyOf(families, upstreamModel))
      }

export const speechRequest = ({
  metadata = null,
  callback_url: _,
  ...body
}: SpeechBody): StreamedRequest<SpeechAdapter> => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["tts"],
  sizeField: "input",
  expectedBy: (model) =>
    estimateSpeech(body, limitsOf(model), model.limits?.output_tokens !== undefined),
  serviceOf: (protocols, adapters, protocol) =>
    audioService(
      protocols.audio?.get(protocol)?.speech,
      adapters.audio?.get(protocol)?.speech,
      (family) => speechContentType(body, family)
    ),
  checkLimits: ({ limits }) => checkVoice(body, limits?.voices),
  streamWork: (adapter, account, upstreamModel, take) =>
    adapter.speak(account, { upstreamModel, body }, take),
  unreportedTokens: (quote) => (quote.kind === "tokens" ? quote.outputTokens : 0n)
})

const unreadableSound = new InvalidRequest({
  message: `file: Expected a sound whose length can be measured: ${soundFormats.join(", ")}`,
  param: "file"
})

const unreadableFile = new Overloaded({
  message: "The order's file cannot be read at the moment; send it again",
  retryAfterSeconds: 2
})

/** The content types under which sounds are sent to vendors. */
const typesOfSounds = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  ogg: "audio/ogg",
  flac: "audio/flac",
  webm: "audio/webm"
} as const satisfies Record<SoundFormat, string>

const base64Of = (dataUrl: string): string => dataUrl.slice(dataUrl.indexOf(",") + 1)

/** A sound as it is sent to the vendor, with its measured length. */
interface MeasuredSound {
  /** A data URL in base64. */
  readonly sound: string
  readonly lengths: SoundLengths
}

/**
 * Reads and measures the sound of an order, which is in the request or is an uploaded file of the
 * organisation.
 */
const makeReadSound = Effect.gen(function* () {
  const findFiles = yield* makeFindFiles
  const fileBytes = yield* makeFileBytes

  const readFile = Effect.fnUntraced(function* (caller: Caller, body: TranscriptionBody) {
    const files = yield* findFiles(caller, filesIn("file", "audio", body.file))
    const file = files.get(soundOf(body))
    if (file === undefined) return yield* unreadableSound
    const { organizationId } = caller
    const chunks = yield* fileBytes.read({ ...file, organizationId }, null).pipe(
      Effect.flatMap(Stream.runCollect),
      Effect.scoped,
      Effect.catch(() => Effect.fail(unreadableFile))
    )
    return Buffer.concat([...chunks])
  })

  return Effect.fnUntraced(function* (
    caller: Caller,
    body: TranscriptionBody
  ): Effect.fn.Return<MeasuredSound, InvalidRequest | Overloaded> {
    const sound = soundOf(body)
    const stored = isFileId(sound) ? yield* readFile(caller, body) : null
    yield* Effect.yieldNow
    const bytes = stored ?? Buffer.from(base64Of(sound), "base64")
    const length = soundLength(bytes)
    if (length === null) return yield* unreadableSound
    const base64 = stored === null ? base64Of(sound) : bytes.toString("base64")
    return {
      sound: `data:${typesOfSounds[length.format]};base64,${base64}`,
      lengths: soundLengths(length, bytes.byteLength)
    }
  })
})

/** What a transcription of a sound of this length is held for. */
export const transcriptionWork = (
  { metadata = null, ...body }: TranscriptionSettings,
  lengths: SoundLengths,
  isTranslation: boolean
): WorkRequest<TranscriptionAdapter> => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["asr"],
  sizeField: "file",
  expectedBy: (model) =>
    estimateTranscription(
      body,
      lengths,
      limitsOf(model),
      model.limits?.output_tokens !== undefined
    ),
  serviceOf: (protocols, adapters, protocol) =>
    audioService(
      protocols.audio?.get(protocol)?.transcription,
      adapters.audio?.get(protocol)?.transcription,
      (family) => transcriptionContentType(body, family, isTranslation)
    ),
  checkLimits: noLimits
})

/** Makes the requests of transcriptions, whole or streamed. */
export const makeTranscriptionRequests = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const readSound = yield* makeReadSound

  return Effect.fnUntraced(function* (
    caller: Caller,
    ordered: TranscriptionBody,
    isTranslation: boolean
  ): Effect.fn.Return<
    WholeRequest<TranscriptionAdapter> | StreamedRequest<TranscriptionAdapter>,
    InvalidRequest | Overloaded | ModelRefusal
  > {
    // No sound is read for a model that takes none.
    yield* checkModel(caller, ordered.model, ["asr"])
    const { sound, lengths } = yield* readSound(caller, ordered)
    const { metadata: _, ...body } = ordered
    const work = transcriptionWork(ordered, lengths, isTranslation)
    const orderOf = (upstreamModel: string): TranscriptionOrder => ({
      upstreamModel,
      body,
      sound,
      isTranslation
    })
    return ordered.stream === true
      ? {
          ...work,
          streamWork: (adapter, account, upstreamModel, take) =>
            adapter.stream(account, orderOf(upstreamModel), take),
          unreportedTokens: () => 0n
        }
      : {
          ...work,
          requestWork: (adapter, account, { upstreamModel }) =>
            adapter.transcribe(account, orderOf(upstreamModel))
        }
  })
})
