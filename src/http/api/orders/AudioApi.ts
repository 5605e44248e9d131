/** Speech: texts that are spoken, and sounds that are transcribed. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { SpeechBody } from "../../../domain/speech/SpeechRequest.ts"
import { bodyErrors, errors, orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import { BodyLimit, DecodesBody, RequiredScope } from "../middlewares.ts"
import { idempotencyHeader } from "../shared.ts"

/** The body of the reserved endpoint. Only the model is read. */
export const TranscriptionBody = Schema.Struct({
  model: Schema.NonEmptyString.annotate({
    description: "Name of the model in the catalog",
    examples: ["listen-1"]
  })
})

/** The same body as a form, whose file is skipped. */
const TranscriptionForm = asForm(TranscriptionBody)

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
    HttpApiEndpoint.post("transcribe", "/audio/transcriptions", {
      payload: [TranscriptionBody, TranscriptionForm],
      error: [...bodyErrors, errors.ModelNotFound, errors.ModalityNotReady, errors.ModalityMismatch]
    })
      .annotate(BodyLimit, "media")
      .annotateMerge(
        operation(
          "Write down speech (coming soon)",
          "Reserved for models of modality asr, which answer `modality_not_ready`; other models answer " +
            "`modality_mismatch`."
        )
      )
  )
  .annotateEndpoints(RequiredScope, "audio") {}
