import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest, ModalityNotReady } from "../../../domain/Errors.ts"
import { EVENT_STREAM, SpeechBody } from "../../../domain/speech/SpeechRequest.ts"
import { makeModelCheck } from "../../../orders/OrderChecks.ts"
import { Orders } from "../../../orders/Orders.ts"
import { StreamedSpeech } from "../../../orders/text/speechOrder.ts"
import { customerApi } from "../../api/contractOf.ts"
import { CurrentCaller, RequestForm } from "../../api/middlewares.ts"
import { AudioGroup, TranscriptionBody } from "../../api/orders/AudioApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { placeOrder, responseOf, soundResponse, streamResponse } from "../respond.ts"
import { narrowContext } from "./narrowContext.ts"
import { makeOrderBody } from "./orderBody.ts"

const transcriptionBody = bodyOf(TranscriptionBody)

/** The model that a form names, in the last of its `model` fields. */
const modelOfForm = Effect.fnUntraced(function* (form: NonNullable<RequestForm["Service"]>) {
  const model = (yield* form).fields.findLast(([name]) => name === "model")?.[1] ?? ""
  if (model !== "") return model
  return yield* new InvalidRequest({ message: "model: This field is required", param: "model" })
})

export const layerAudioHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const checkModel = yield* makeModelCheck
    const speechBody = (yield* makeOrderBody)(SpeechBody, "tts")
    return narrowContext(
      HttpApiBuilder.group(customerApi(AudioGroup), "audio", (handlers) =>
        handlers
          .handleRaw(
            "speech",
            Effect.fnUntraced(function* (request) {
              const answer = yield* placeOrder(request, yield* speechBody, orders.speech)
              if (!(answer instanceof StreamedSpeech)) return responseOf(answer)
              return answer.contentType === EVENT_STREAM
                ? yield* streamResponse(answer.answer)
                : yield* soundResponse(answer)
            })
          )
          .handleRaw(
            "transcribe",
            Effect.fnUntraced(function* () {
              const form = yield* RequestForm
              const model =
                form === null ? (yield* transcriptionBody).model : yield* modelOfForm(form)
              yield* checkModel(yield* CurrentCaller, model, ["asr"])
              return yield* new ModalityNotReady({
                message: "Models of modality asr are not open yet",
                param: "model"
              })
            })
          )
      )
    )
  })
)
