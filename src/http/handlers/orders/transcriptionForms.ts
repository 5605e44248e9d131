/** Reads transcriptions that are sent as forms, where every value is a text. */
import { Effect } from "effect"
import { InvalidRequest } from "../../../domain/Errors.ts"
import type { FormParts } from "../../api/middlewares.ts"

const numberPattern = /^-?\d{1,15}(\.\d{1,15})?$/
const listPattern = /^([^\][]+)\[\d*\]$/
const metadataPattern = /^metadata\[([^\][]+)\]$/

/** The fields whose value is a text, whatever it says. */
const textFields: ReadonlySet<string> = new Set(["model", "language", "prompt", "response_format"])

/**
 * A text that does not match the type of its field is kept, so that the error quotes it. A vendor's
 * own field may be a switch.
 */
const typedValue = (name: string, text: string): string | number | boolean => {
  if (name === "temperature" && numberPattern.test(text)) return Number(text)
  if (!textFields.has(name) && (text === "true" || text === "false")) return text === "true"
  return text
}

const invalidFile = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

/** The file as a `data:` URL, whose type is decided when the sound is measured. */
const fileUrl = Effect.fnUntraced(function* ({ files }: FormParts) {
  const misplaced = files.find(({ field }) => field !== "file")
  if (misplaced !== undefined) {
    const name = misplaced.field.slice(0, 100).toWellFormed()
    return yield* invalidFile(name, "Expected a text; the sound is the file of the field `file`")
  }
  const file = files.at(-1)
  if (file === undefined) return null
  if (file.bytes.byteLength === 0) return yield* invalidFile("file", "The file is empty")
  yield* Effect.yieldNow
  return `data:application/octet-stream;base64,${file.bytes.toString("base64")}`
})

/**
 * Converts the form to a JSON body. An empty text means that its field is left out. For a repeated field the last value counts; for a list, such as
 * `timestamp_granularities[]`, all values count.
 */
export const transcriptionOfForm = Effect.fnUntraced(function* (
  parts: FormParts
): Effect.fn.Return<Readonly<Record<string, unknown>>, InvalidRequest> {
  const body = new Map<string, unknown>()
  const lists = new Map<string, Array<string>>()
  const metadata = new Map<string, string>()
  for (const [name, text] of parts.fields) {
    const metadataName = metadataPattern.exec(name)?.[1]
    const listName = listPattern.exec(name)?.[1]
    if (text === "") continue
    if (metadataName !== undefined) metadata.set(metadataName, text)
    else if (listName !== undefined) lists.set(listName, [...(lists.get(listName) ?? []), text])
    else body.set(name, typedValue(name, text))
  }
  for (const [name, texts] of lists) body.set(name, texts)
  if (metadata.size > 0) body.set("metadata", Object.fromEntries(metadata))
  const sound = yield* fileUrl(parts)
  if (sound !== null) body.set("file", sound)
  return Object.fromEntries(body)
})
