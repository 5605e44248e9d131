/** Decodes the bodies of orders whose modality may be closed. */
import { Effect, Schema } from "effect"
import type { Modality } from "../../../domain/catalog/Modality.ts"
import { anyFields } from "../../../domain/requestFields.ts"
import { makeModelCheck } from "../../../orders/OrderChecks.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { bodyOf, decodeBody } from "../../server/requestRules.ts"

const modelBody = bodyOf(
  Schema.StructWithRest(Schema.Struct({ model: Schema.NonEmptyString }), anyFields)
)

/**
 * Makes the decoder of an order's body. Where the body is not valid, the refusal of its model comes
 * first: a client of a model that is not open learns that, whatever else the body lacks.
 */
export const makeOrderBody = Effect.map(
  makeModelCheck,
  (checkModel) =>
    <S extends Schema.Top & { readonly DecodingServices: never }>(
      schema: S,
      modality: Modality
    ) => {
      const decode = decodeBody(schema)
      return Effect.flatMap(modelBody, (body) =>
        Effect.catch(decode(body), (fault) =>
          CurrentCaller.pipe(
            Effect.flatMap((caller) => checkModel(caller, body.model, [modality])),
            Effect.andThen(Effect.fail(fault))
          )
        )
      )
    }
)
