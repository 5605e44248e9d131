/** Bodies of `multipart/form-data`, encoded piece by piece. */
import { mediumOf } from "../../redaction/patterns.ts"

/** The fields of a form. A list becomes several fields with the same name; null is left out. */
export type FormFields = Readonly<Record<string, unknown>>

/** The chunk size of base64 decoding in characters, a multiple of four. */
const PIECE = 1024 * 1024

/** Escapes quotes and line breaks, which would end the name in the header of a part. */
const quotedName = (name: string): string =>
  `"${name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))}"`

/** The extensions of files, by which some vendors tell the format of a sound. */
const extensions: Readonly<Record<string, string>> = {
  "audio/flac": "flac",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/wav": "wav",
  "audio/webm": "webm",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif"
}

const plainType = /^[\w.+-]+\/[\w.+-]+$/

function* filePieces(name: string, index: number, url: string): Generator<string | Buffer> {
  const medium = mediumOf(url)
  const type = medium?.type ?? ""
  const contentType = plainType.test(type) ? type : "application/octet-stream"
  const kind = contentType.startsWith("audio/") ? "sound" : "image"
  const file = `${kind}-${index}.${extensions[contentType] ?? "bin"}`
  yield `Content-Disposition: form-data; name=${quotedName(name)}; filename="${file}"\r\nContent-Type: ${contentType}\r\n\r\n`
  const content = medium?.content ?? ""
  for (let from = 0; from < content.length; from += PIECE) {
    yield Buffer.from(content.slice(from, from + PIECE), "base64")
  }
}

/** Whether a URL is a data URL that can be sent as a file of a form. */
export const isFileUrl = (url: string): boolean => /^data:[^,]{0,200};base64,/i.test(url)

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** Whether a form can contain a value: a string, a number, a boolean, or null. */
export const isFormValue = (value: unknown): boolean => value == null || isScalar(value)

/**
 * Encodes a form. The values of the fields in `fileFields` are base64 data URLs, which are sent as
 * files. `boundary` delimits the parts and must occur in none of them.
 */
export function* formPieces(
  fields: FormFields,
  fileFields: ReadonlySet<string>,
  boundary: string
): Generator<string | Buffer> {
  for (const [name, value] of Object.entries(fields)) {
    for (const [index, item] of [value].flat().entries()) {
      if (!isScalar(item)) continue
      yield `--${boundary}\r\n`
      if (fileFields.has(name)) yield* filePieces(name, index, String(item))
      else yield `Content-Disposition: form-data; name=${quotedName(name)}\r\n\r\n${item}`
      yield "\r\n"
    }
  }
  yield `--${boundary}--\r\n`
}
