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
import { placeOrder, responseOf, soundResponse, streamResponse } from "../respond.ts"
import { narrowContext } from "./narrowContext.ts"
import { makeOrderBody } from "./orderBody.ts"
import { transcriptionOfForm } from "./transcriptionForms.ts"

const audioResponse = Effect.fnUntraced(function* (answer: AnswerBody | StreamedWork) {
  if (!(answer instanceof StreamedWork)) return responseOf(answer)
  return answer.contentType === EVENT_STREAM
    ? yield* streamResponse(answer.answer)
    : yield* soundResponse(answer)
})

export const layerAudioHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
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
              return yield* audioResponse(yield* placeOrder(request, body, orders.speech))
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
      )
    )
  })
)
