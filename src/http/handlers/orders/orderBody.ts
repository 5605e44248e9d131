/** Decodes the bodies of orders whose modality may be closed. */
import { Effect, Schema } from "effect"
import type { Modality } from "../../../domain/catalog/Modality.ts"
import { anyFields } from "../../../domain/requestFields.ts"
import { makeModelCheck } from "../../../orders/OrderChecks.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { bodyOf, decodeBody } from "../../server/requestRules.ts"

const NamedModel = Schema.StructWithRest(Schema.Struct({ model: Schema.NonEmptyString }), anyFields)
const decodeNamedModel = decodeBody(NamedModel)

/** The body of a JSON request, with the model that it names. */
const jsonBody = bodyOf(NamedModel)

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
      const decodeNamed = (body: typeof NamedModel.Type) =>
        Effect.catch(decode(body), (fault) =>
          CurrentCaller.pipe(
            Effect.flatMap((caller) => checkModel(caller, body.model, [modality])),
            Effect.andThen(Effect.fail(fault))
          )
        )
      return {
        json: Effect.flatMap(jsonBody, decodeNamed),
        /** Decodes a body that was read from a form. */
        decode: (body: unknown) => Effect.flatMap(decodeNamedModel(body), decodeNamed)
      }
    }
)
