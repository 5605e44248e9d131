/** Bodies of `multipart/form-data`, written piece by piece. */
import { mediumOf } from "../../redaction/patterns.ts"

/** Lists are fields of the same name. What is null is left out. */
export type FormFields = Readonly<Record<string, unknown>>

export interface FormShape {
  /** What stands between the parts, and in none of them. */
  readonly boundary: string
  /** Fields whose texts are data URLs in base64 and go out as files. */
  readonly files: ReadonlySet<string>
}

/** Base64 is decoded in pieces of this many characters, a multiple of four. */
const PIECE = 1024 * 1024

/** A name may not end its own place in the head of a part. */
const quoted = (name: string): string =>
  `"${name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))}"`

const extensions: Readonly<Record<string, string>> = {
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
  const file = `image-${index}.${extensions[contentType] ?? "bin"}`
  yield `Content-Disposition: form-data; name=${quoted(name)}; filename="${file}"\r\nContent-Type: ${contentType}\r\n\r\n`
  const content = medium?.content ?? ""
  for (let from = 0; from < content.length; from += PIECE) {
    yield Buffer.from(content.slice(from, from + PIECE), "base64")
  }
}

/** True for a data URL that can be a file of a form. */
export const isFileUrl = (url: string): boolean => /^data:[^,]{0,200};base64,/i.test(url)

const isGiven = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** True for what a form can say: a text, a number, a flag, or nothing. */
export const isFormValue = (value: unknown): boolean => value == null || isGiven(value)

export function* formPieces(
  fields: FormFields,
  { boundary, files }: FormShape
): Generator<string | Buffer> {
  for (const [name, value] of Object.entries(fields)) {
    for (const [index, one] of [value].flat().entries()) {
      if (!isGiven(one)) continue
      yield `--${boundary}\r\n`
      if (files.has(name)) yield* filePieces(name, index, String(one))
      else yield `Content-Disposition: form-data; name=${quoted(name)}\r\n\r\n${one}`
      yield "\r\n"
    }
  }
  yield `--${boundary}--\r\n`
}
