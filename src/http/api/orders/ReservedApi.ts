/** Endpoints of modalities that are not open yet, which refuse every order. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { bodyErrors, errors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import { BodyLimit, RequiredScope } from "../middlewares.ts"

/** The body of a reserved endpoint. Only the model is read. */
export const ReservedBody = Schema.Struct({
  model: Schema.NonEmptyString.annotate({
    description: "Name of the model in the catalog",
    examples: ["rank-1"]
  })
})

/** The same body as a form, whose file is skipped. */
const ReservedForm = asForm(ReservedBody)

const notReady = (summary: string, modality: string) =>
  operation(
    summary,
    `Reserved for models of modality ${modality}, which answer \`modality_not_ready\`; other ` +
      "models answer `modality_mismatch`. Any key that may list the models may call it."
  )

const reservedErrors = [
  ...bodyErrors,
  errors.ModelNotFound,
  errors.ModalityNotReady,
  errors.ModalityMismatch
] as const

export class ReservedGroup extends HttpApiGroup.make("reserved")
  .add(
    HttpApiEndpoint.post("rerank", "/rerank", { payload: ReservedBody, error: reservedErrors })
      .annotate(BodyLimit, "texts")
      .annotateMerge(notReady("Rank documents (coming soon)", "rerank")),
    HttpApiEndpoint.post("speech", "/audio/speech", {
      payload: ReservedBody,
      error: reservedErrors
    }).annotateMerge(notReady("Speak a text (coming soon)", "tts")),
    HttpApiEndpoint.post("transcribe", "/audio/transcriptions", {
      payload: [ReservedBody, ReservedForm],
      error: reservedErrors
    })
      .annotate(BodyLimit, "media")
      .annotateMerge(notReady("Write down speech (coming soon)", "asr"))
  )
  .annotateEndpoints(RequiredScope, "models") {}
