/** What a form says: its fields, and its files, which are kept or read over. */
import { Effect, Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import { InvalidRequest, type Overloaded, PayloadTooLarge } from "../../domain/Errors.ts"
import { MAX_FIELD_BYTES, MAX_PARTS } from "../api/forms.ts"
import type { FormFile, FormParts } from "../api/middlewares.ts"
import { bodyTooLarge } from "./bodies.ts"

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

/** How a form's files are kept: `take` makes room for bytes that have arrived; null reads them over. */
export interface FormReading {
  readonly maxBytes: number
  readonly take: ((bytes: number) => Effect.Effect<void, Overloaded>) | null
}

/** Reads a form to its end; the bytes of all its files and fields together are within `maxBytes`. */
export const readForm = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  { maxBytes, take }: FormReading
): Effect.fn.Return<FormParts, InvalidRequest | PayloadTooLarge | Overloaded> {
  const fields: Array<readonly [string, string]> = []
  const files: Array<FormFile> = []
  const unread = ofForm(maxBytes)
  const keep = Effect.fnUntraced(function* (part: Multipart.File) {
    const pieces: Array<Uint8Array> = []
    const room = take ?? (() => Effect.void)
    yield* part.content.pipe(
      Stream.mapError(unread),
      Stream.runForEach((piece) => {
        if (take !== null) pieces.push(piece)
        return room(piece.byteLength)
      })
    )
    files.push({
      field: part.key,
      name: part.name,
      contentType: part.contentType,
      bytes: Buffer.concat(pieces)
    })
  })
  yield* request.multipartStream.pipe(
    Stream.provideContext(formLimits),
    Stream.mapError(unread),
    Stream.runForEach(
      (part): Effect.Effect<void, InvalidRequest | PayloadTooLarge | Overloaded> => {
        if (Multipart.isFile(part)) return keep(part)
        fields.push([part.key, part.value])
        return (take ?? (() => Effect.void))(part.value.length)
      }
    )
  )
  return { fields, files }
})
