/** Reads the fields and files of a form; files are stored or skipped. */
import { Effect, Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import { InvalidRequest, type Overloaded, PayloadTooLarge } from "../../domain/Errors.ts"
import { MAX_FIELD_BYTES, MAX_PARTS } from "../api/forms.ts"
import type { FormFile, FormParts } from "../api/middlewares.ts"
import { bodyTooLarge } from "./bodies.ts"

const formLimits = Multipart.limitsServices({ maxParts: MAX_PARTS, maxFieldSize: MAX_FIELD_BYTES })

/** The error for a form that is unreadable or exceeded a limit. The error names the limit. */
const formFault =
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

/**
 * Options for reading a form. `reserve` reserves memory for arrived bytes of files; null skips the
 * files.
 */
export interface FormReading {
  readonly maxBytes: number
  readonly reserve: ((bytes: number) => Effect.Effect<void, Overloaded>) | null
}

/** Reads a form to its end. All files and fields together may have at most `maxBytes` bytes. */
export const readForm = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  { maxBytes, reserve }: FormReading
): Effect.fn.Return<FormParts, InvalidRequest | PayloadTooLarge | Overloaded> {
  const fields: Array<readonly [string, string]> = []
  const files: Array<FormFile> = []
  const toFault = formFault(maxBytes)
  const reserveBytes = reserve ?? (() => Effect.void)
  const readFile = Effect.fnUntraced(function* (part: Multipart.File) {
    const chunks: Array<Uint8Array> = []
    yield* part.content.pipe(
      Stream.mapError(toFault),
      Stream.runForEach((chunk) => {
        if (reserve !== null) chunks.push(chunk)
        return reserveBytes(chunk.byteLength)
      })
    )
    files.push({
      field: part.key,
      name: part.name,
      contentType: part.contentType,
      bytes: Buffer.concat(chunks)
    })
  })
  yield* request.multipartStream.pipe(
    Stream.provideContext(formLimits),
    Stream.mapError(toFault),
    Stream.runForEach(
      (part): Effect.Effect<void, InvalidRequest | PayloadTooLarge | Overloaded> => {
        if (Multipart.isFile(part)) return readFile(part)
        fields.push([part.key, part.value])
        return reserveBytes(part.value.length)
      }
    )
  )
  return { fields, files }
})
