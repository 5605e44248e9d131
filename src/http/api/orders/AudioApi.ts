/** Speech: texts that are spoken, and sounds that are transcribed. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { anyFields } from "../../../domain/requestFields.ts"
import { SpeechBody } from "../../../domain/speech/SpeechRequest.ts"
import { TranscriptionBody } from "../../../domain/transcription/TranscriptionRequest.ts"
import { errors, orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import {
  BodyLimit,
  DecodesBody,
  HeldOpen,
  KeepsFiles,
  LookUp,
  RequiredScope,
  TakesLinks
} from "../middlewares.ts"
import {
  deletedTask,
  EVENTS_DESCRIPTION,
  fileRequest,
  idempotencyHeader,
  listEntryFields,
  listWithEnds,
  preferHeader,
  TaskFailure,
  taskEvent,
  taskEventsRequest,
  taskId,
  taskListQuery,
  taskRequest,
  taskStatus,
  text
} from "../shared.ts"

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

const processing = { id: taskId, task_status: taskStatus("processing") }
const succeeded = {
  id: taskId,
  task_status: taskStatus("succeeded"),
  content: Schema.Struct({
    audio_url: text(
      "The address of the sound in the archive, valid for a day",
      "https://gateway.test/v1/audio/speech/sp_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e/content?token=..."
    )
  }).annotate({ description: "The sound" })
}
const failed = {
  id: taskId,
  task_status: taskStatus("failed"),
  error: TaskFailure.annotate({ description: "Why" })
}

const SpeechTaskView = Schema.Union([
  Schema.Struct(processing).annotate({
    identifier: "ProcessingSpeech",
    description: "The sound is being made"
  }),
  Schema.Struct(succeeded).annotate({
    identifier: "SucceededSpeech",
    description: "The sound is finished and charged"
  }),
  Schema.Struct(failed).annotate({
    identifier: "FailedSpeech",
    description: "The order failed; it costs nothing unless the vendor's sound broke off"
  })
])

const ListedSpeech = Schema.Union([
  Schema.Struct({ ...processing, ...listEntryFields }),
  Schema.Struct({ ...succeeded, ...listEntryFields }),
  Schema.Struct({ ...failed, ...listEntryFields })
]).annotate({
  identifier: "ListedSpeech",
  description: "A task of speech, with the fields of reading it"
})

const SpeechTaskEvent = taskEvent("speech", "/v1/audio/speech/{task_id}", SpeechTaskView, {
  id: "sp_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e",
  task_status: "processing"
})

const Accepted = Schema.Struct(processing).annotate({
  identifier: "AcceptedSpeech",
  description: "The sound is being made; `location` is the path of the task",
  httpApiStatus: 202
})

export class AudioGroup extends HttpApiGroup.make("audio")
  .add(
    HttpApiEndpoint.post("speech", "/audio/speech", {
      headers: { ...idempotencyHeader, prefer: preferHeader("sound") },
      payload: SpeechBody,
      success: [Sound, Accepted],
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
            "while this gateway has it in memory, and 409 afterwards; it never pays a second time. With " +
            "`Prefer: respond-async` the answer is 202 with a task as soon as the price is held, where the " +
            "gateway has an archive; the sound is then stored there."
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
      ),
    HttpApiEndpoint.get("list", "/audio/speech", {
      query: taskListQuery,
      success: listWithEnds(ListedSpeech),
      error: errors.InvalidRequest
    }).annotateMerge(
      operation(
        "List tasks of speech",
        "The member's own tasks of speech, which were ordered with `Prefer: respond-async`, newest first."
      )
    ),
    HttpApiEndpoint.get("read", "/audio/speech/:task_id", {
      ...taskRequest,
      success: SpeechTaskView,
      error: errors.TaskNotFound
    })
      .annotate(LookUp, true)
      .annotate(HeldOpen, "with-wait")
      .annotateMerge(
        operation(
          "Read a task of speech",
          "A task that was ordered with `Prefer: respond-async`. With `wait` the answer comes when the task ends; `Retry-After` is the time until the next poll."
        )
      ),
    HttpApiEndpoint.get("events", "/audio/speech/:task_id/events", {
      ...taskEventsRequest,
      success: [HttpApiSchema.StreamSse({ events: SpeechTaskEvent }), HttpApiSchema.NoContent],
      error: errors.TaskNotFound
    })
      .annotate(LookUp, true)
      .annotate(HeldOpen, "always")
      .annotateMerge(operation("Follow a task of speech", EVENTS_DESCRIPTION)),
    HttpApiEndpoint.delete("remove", "/audio/speech/:task_id", {
      params: { task_id: taskId },
      success: deletedTask("speech"),
      error: [errors.TaskNotFound, errors.TaskProcessing, errors.PermissionDenied]
    }).annotateMerge(
      operation(
        "Delete a task of speech",
        "Deletes a task that has ended, and its sound in the archive, with a key of the member who ordered it. Its charge stays, and nothing is refunded."
      )
    ),
    HttpApiEndpoint.get("content", "/audio/speech/:task_id/content", {
      params: { task_id: taskId },
      ...fileRequest,
      error: [errors.InvalidRequest, errors.TaskNotFound, errors.NotFound, errors.UpstreamError]
    })
      .annotate(LookUp, true)
      .annotate(TakesLinks, "speech")
      .annotateMerge(operation("Load the sound of a task", "The sound of a task of speech."))
  )
  .annotateEndpoints(RequiredScope, "audio") {}
