/**
 * A transcription as source code, which reads the recording from the folder where it runs: a file
 * is too large to be part of code.
 */

import { shell } from "../../../parts/shellText.ts"
import { type Order, transcriptFormatOf } from "../form/draft.ts"
import { isObject, omitFields, type Sample, script } from "./samples.ts"

export const IMPORT_STREAM = `import { createReadStream } from "node:fs"
`
export const IMPORT_READ = `import { readFile } from "node:fs/promises"
`

const fileOf = ({ recording }: Order): string => recording?.name ?? "recording.wav"

/** Whether the answer is JSON, and not the text alone. */
const isJson = (order: Order): boolean => transcriptFormatOf(order).endsWith("json")

/** The fields of the form without the file. */
const formFieldsOf = ({ body }: Order): ReadonlyArray<readonly [name: string, text: string]> =>
  Object.entries(omitFields(body, "file")).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value).map(([key, text]) => [`${name}[${key}]`, String(text)] as const)
      : [[name, String(value)] as const]
  )

/** The body as JavaScript, with an expression as its file. */
const bodyWith = ({ body }: Order, file: string, indent = ""): string => {
  const end = `\n${indent}}`
  const text = script(omitFields(body, "file"), indent).slice(0, -end.length)
  return `${text},\n${indent}  file: ${file}${end}`
}

/** curl takes a file's name in double quotes, so that it may have a comma or a semicolon. */
const quotedName = (name: string): string => `"${name.replace(/["\\]/g, "\\$&")}"`

export const curlTranscription = ({ order, key }: Sample): string =>
  [
    `curl -sS --fail-with-body "$URL${order.path}"`,
    '-H "$AUTH"',
    `-H "idempotency-key: ${key}"`,
    `-F ${shell(`file=@${quotedName(fileOf(order))}`)}`,
    ...formFieldsOf(order).map(([name, text]) => `--form-string ${shell(`${name}=${text}`)}`)
  ].join(" \\\n  ")

export const openaiTranscription = (
  order: Order
): string => `const transcript = await client.audio.transcriptions.create(${bodyWith(
  order,
  `createReadStream(${script(fileOf(order))})`
)})
console.log(${isJson(order) ? "transcript.text" : "transcript"})`

export const aiTranscription = ({ origin, order, key }: Sample): string => {
  const file = script(fileOf(order))
  const fields = formFieldsOf(order).map(
    ([name, text]) => `form.append(${script(name)}, ${script(text)})`
  )
  return `${IMPORT_READ}
// the package has no transcriptions of such providers: an order is one request
const form = new FormData()
form.append("file", new Blob([await readFile(${file})]), ${file})
${fields.join("\n")}
const response = await fetch("${origin}${order.path}", {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.GATEWAY_KEY}\`,
    "idempotency-key": "${key}"
  },
  body: form
})
if (!response.ok) throw new Error(await response.text())
console.log(${isJson(order) ? "(await response.json()).text" : "await response.text()"})`
}

export const typedTranscription = (order: Order, headers: string): string => {
  const payload = bodyWith(order, '"data:application/octet-stream;base64," + sound', "    ")
  const read = `const sound = yield* Effect.promise(() => readFile(${script(fileOf(order))}, "base64"))`
  return isJson(order)
    ? `${read}
  const transcript = yield* gateway.audio.transcribe({
    payload: ${payload},
    headers: ${headers}
  })
  yield* Console.log(transcript.text)`
    : `${read}
  const response = yield* gateway.audio.transcribe({
    payload: ${payload},
    headers: ${headers},
    responseMode: "response-only"
  })
  const { text } = yield* HttpClientResponse.filterStatusOk(response)
  yield* Console.log(yield* text)`
}

/** The further import of the typed client's code. */
export const typedTranscriptionImport = (order: Order): string =>
  isJson(order) ? "" : `import { HttpClientResponse } from "effect/http"\n`
