/** Speech: texts that are spoken, and sounds that are transcribed. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { anyFields } from "../../../domain/requestFields.ts"
import { SpeechBody } from "../../../domain/speech/SpeechRequest.ts"
import { TranscriptionBody } from "../../../domain/transcription/TranscriptionRequest.ts"
import { orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import { BodyLimit, DecodesBody, KeepsFiles, RequiredScope } from "../middlewares.ts"
import { idempotencyHeader } from "../shared.ts"

/** The body as a form, whose `file` is a file. */
const TranscriptionForm = asForm(TranscriptionBody)

/** The vendor's answer in the standard form, unchanged; other formats are plain text. */
const Transcript = Schema.StructWithRest(
  Schema.Struct({
    text: Schema.String.annotate({
      description: "What is said in the sound",
      examples: ["The harbour is calm at dawn."]
    }),
    usage: Schema.optionalKey(Schema.Unknown).annotateKey({
      description: "The length of the sound, or its tokens, as the vendor counted them",
      examples: [{ type: "duration", seconds: 13 }]
    })
  }),
  anyFields
)

const transcription = {
  headers: idempotencyHeader,
  payload: [TranscriptionBody, TranscriptionForm],
  success: Transcript,
  error: orderErrors
} as const

/** The sound, or its events; the content type is that of `response_format`. */
const Sound = HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" })

export class AudioGroup extends HttpApiGroup.make("audio")
  .add(
    HttpApiEndpoint.post("speech", "/audio/speech", {
      headers: idempotencyHeader,
      payload: SpeechBody,
      success: Sound,
      error: orderErrors
    })
      .annotate(BodyLimit, "texts")
      .annotate(DecodesBody, true)
      .annotateMerge(
        operation(
          "Speak a text",
          "Asks a model of modality tts. The body goes to the vendor as JSON of the same values with " +
            "`model` rewritten, and the sound comes back as it is made: as bytes whose content type is that of " +
            "`response_format`, or with `stream_format: sse` as the vendor's server-sent events. A price by " +
            "characters charges exactly what the quote says; a price by tokens charges what the vendor counts, " +
            "or what was held where it counts nothing. A sound that breaks off is charged, and its connection is " +
            "closed before the end of the body. A repeat under the same `Idempotency-Key` gets the same sound " +
            "while this gateway has it in memory, and 409 afterwards; it never pays a second time."
        )
      ),
    HttpApiEndpoint.post("transcribe", "/audio/transcriptions", transcription)
      .annotate(BodyLimit, "media")
      .annotate(DecodesBody, true)
      .annotate(KeepsFiles, true)
      .annotateMerge(
        operation(
          "Transcribe a sound",
          "Asks a model of modality asr what is said in a sound (wav, mp3, m4a, ogg, flac, webm), which comes as " +
            "the `file` of a form, or in JSON as the id of an uploaded file or a data URL. Its length is measured " +
            "before the hold: the larger of what the file declares and what its bytes hold. Charged are the " +
            "seconds or tokens that the vendor reports, or the measured length. `text`, `srt` and `vtt` are " +
            "passed on as they are; with `stream: true` the text comes in the vendor's server-sent events."
        )
      ),
    HttpApiEndpoint.post("translate", "/audio/translations", transcription)
      .annotate(BodyLimit, "media")
      .annotate(DecodesBody, true)
      .annotate(KeepsFiles, true)
      .annotateMerge(
        operation(
          "Translate a sound",
          "The same as a transcription, with the text in English. `language` is not sent."
        )
      )
  )
  .annotateEndpoints(RequiredScope, "audio") {}
