import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EVENT_STREAM } from "../../../domain/audio/audioFormats.ts"
import { SpeechBody } from "../../../domain/speech/SpeechRequest.ts"
import { TranscriptionBody } from "../../../domain/transcription/TranscriptionRequest.ts"
import { Orders } from "../../../orders/Orders.ts"
import { StreamedWork } from "../../../orders/text/streamedWork.ts"
import type { AnswerBody } from "../../../services/IdempotencyKeys.ts"
import { customerApi } from "../../api/contractOf.ts"
import { RequestForm } from "../../api/middlewares.ts"
import { AudioGroup } from "../../api/orders/AudioApi.ts"
import { endWith, placeOrder, responseOf, soundResponse, streamResponse } from "../respond.ts"
import { makeFileResponses } from "./fileResponses.ts"
import { narrowContext } from "./narrowContext.ts"
import { makeOrderBody } from "./orderBody.ts"
import { acceptedTask, needsTask, prefersTask } from "./respondAsync.ts"
import { makeTaskResponses, youngTask } from "./taskResponses.ts"
import { transcriptionOfForm } from "./transcriptionForms.ts"

const audioResponse = Effect.fnUntraced(function* (answer: AnswerBody | StreamedWork) {
  if (!(answer instanceof StreamedWork)) return responseOf(answer)
  return answer.contentType === EVENT_STREAM
    ? yield* streamResponse(answer.answer, endWith(null))
    : yield* soundResponse(answer)
})

export const layerAudioHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const tasks = yield* makeTaskResponses("speech")
    const files = yield* makeFileResponses
    const orderBody = yield* makeOrderBody
    const speech = orderBody(SpeechBody, "tts")
    const transcription = orderBody(TranscriptionBody, "asr")

    const transcriptionBody = Effect.flatMap(RequestForm, (form) =>
      form === null
        ? transcription.json
        : form.pipe(Effect.flatMap(transcriptionOfForm), Effect.flatMap(transcription.decode))
    )

    return narrowContext(
      HttpApiBuilder.group(customerApi(AudioGroup), "audio", (handlers) =>
        handlers
          .handleRaw(
            "speech",
            Effect.fnUntraced(function* (request) {
              const body = yield* speech.json
              if (!prefersTask(request.headers.prefer)) {
                if (body.callback_url != null) return yield* needsTask("sound")
                return yield* audioResponse(yield* placeOrder(request, body, orders.speech))
              }
              yield* tasks.checkCallbackUrl(body.callback_url)
              const id = yield* placeOrder(request, body, orders.speechTask)
              return acceptedTask("speech", id, tasks.retryHeaders(youngTask(null)))
            })
          )
          .handleRaw(
            "transcribe",
            Effect.fnUntraced(function* (request) {
              const body = yield* transcriptionBody
              return yield* audioResponse(yield* placeOrder(request, body, orders.transcription))
            })
          )
          .handleRaw(
            "translate",
            Effect.fnUntraced(function* (request) {
              const body = yield* transcriptionBody
              return yield* audioResponse(yield* placeOrder(request, body, orders.translation))
            })
          )
          .handleAll({
            list: ({ query }) => tasks.list(query),
            read: ({ params, query }) => tasks.answer(params.task_id, query.wait),
            remove: ({ params }) => tasks.remove(params.task_id),
            content: ({ params, headers }) => files.sound(params.task_id, headers),
            events: ({ params, headers }) => tasks.events(params.task_id, headers["last-event-id"])
          })
      )
    )
  })
)
