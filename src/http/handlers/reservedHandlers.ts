import { Effect, Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Modality } from "../../domain/catalog/Modality.ts"
import { InvalidRequest, ModalityNotReady, PayloadTooLarge } from "../../domain/Errors.ts"
import { makeModelCheck } from "../../orders/OrderChecks.ts"
import { Settings } from "../../runtime/Settings.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import { MAX_FIELD_BYTES, MAX_PARTS, ReservedBody } from "../api/ReservedApi.ts"
import { bodyTooLarge } from "../server/bodies.ts"
import { bodyOf, isForm } from "../server/requestRules.ts"

const asReserved = bodyOf(ReservedBody)

const formLimits = Multipart.limitsServices({ maxParts: MAX_PARTS, maxFieldSize: MAX_FIELD_BYTES })

/** Says which bound a form went beyond; what is wrong otherwise makes it unreadable. */
const ofForm =
  (maxBytes: number) =>
  ({ reason }: Multipart.MultipartError) => {
    switch (reason._tag) {
      case "TooManyParts":
        return new PayloadTooLarge({ message: `The form may have at most ${MAX_PARTS} parts` })
      case "FieldTooLarge":
        return new PayloadTooLarge({
          message: `A field of the form may have at most ${MAX_FIELD_BYTES} bytes`
        })
      case "FileTooLarge":
      case "BodyTooLarge":
        return bodyTooLarge(maxBytes)
      default:
        return new InvalidRequest({ message: "The form could not be read" })
    }
  }

/** Reads a form to its end and keeps the name of the model alone. */
const modelOfForm = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
) {
  let model = ""
  yield* request.multipartStream.pipe(
    Stream.runForEach((part) => {
      if (Multipart.isFile(part)) return Stream.runDrain(part.content)
      if (part.key === "model") model = part.value
      return Effect.void
    }),
    Effect.provideContext(formLimits),
    Effect.mapError(ofForm(maxBytes))
  )
  if (model !== "") return model
  return yield* new InvalidRequest({ message: "model: This field is required", param: "model" })
})

export const layerReservedHandlers = HttpApiBuilder.group(
  GatewayApi,
  "reserved",
  Effect.fn(function* (handlers) {
    const checkModel = yield* makeModelCheck
    const { maxMediaBodyBytes } = yield* Settings

    const refuse = Effect.fnUntraced(function* (model: string, modality: Modality) {
      yield* checkModel(yield* CurrentCaller, model, [modality])
      return yield* new ModalityNotReady({
        message: `Models of modality ${modality} are not open yet`,
        param: "model"
      })
    })

    const refuseBody = (modality: Modality) =>
      Effect.flatMap(asReserved, ({ model }) => refuse(model, modality))

    return handlers
      .handleRaw("rerank", () => refuseBody("rerank"))
      .handleRaw("speech", () => refuseBody("tts"))
      .handleRaw("transcribe", ({ request }) =>
        isForm(request)
          ? Effect.flatMap(modelOfForm(request, maxMediaBodyBytes), (model) => refuse(model, "asr"))
          : refuseBody("asr")
      )
  })
)
