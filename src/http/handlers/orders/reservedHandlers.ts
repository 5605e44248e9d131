import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Modality } from "../../../domain/catalog/Modality.ts"
import { InvalidRequest, ModalityNotReady } from "../../../domain/Errors.ts"
import { makeModelCheck } from "../../../orders/OrderChecks.ts"
import { customerApi } from "../../api/contractOf.ts"
import { CurrentCaller, RequestForm } from "../../api/middlewares.ts"
import { ReservedBody, ReservedGroup } from "../../api/orders/ReservedApi.ts"
import { bodyOf } from "../../server/requestRules.ts"

const reservedBody = bodyOf(ReservedBody)

/** The model that a form names, in the last of its `model` fields. */
const modelOfForm = Effect.fnUntraced(function* (form: NonNullable<RequestForm["Service"]>) {
  const model = (yield* form).fields.findLast(([name]) => name === "model")?.[1] ?? ""
  if (model !== "") return model
  return yield* new InvalidRequest({ message: "model: This field is required", param: "model" })
})

export const layerReservedHandlers = HttpApiBuilder.group(
  customerApi(ReservedGroup),
  "reserved",
  Effect.fn(function* (handlers) {
    const checkModel = yield* makeModelCheck

    const refuse = Effect.fnUntraced(function* (model: string, modality: Modality) {
      yield* checkModel(yield* CurrentCaller, model, [modality])
      return yield* new ModalityNotReady({
        message: `Models of modality ${modality} are not open yet`,
        param: "model"
      })
    })

    return handlers
      .handle("rerank", ({ payload }) => refuse(payload.model, "rerank"))
      .handle("speech", ({ payload }) => refuse(payload.model, "tts"))
      .handleRaw(
        "transcribe",
        Effect.fnUntraced(function* () {
          const form = yield* RequestForm
          const model = form === null ? (yield* reservedBody).model : yield* modelOfForm(form)
          return yield* refuse(model, "asr")
        })
      )
  })
)
