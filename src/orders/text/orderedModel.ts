/**
 * Names the ordered model in a vendor's answer, where the vendor names its own. An answer has the
 * name at its top level, before the texts.
 */
import { RawAnswer } from "../../domain/RawAnswer.ts"

/** The bytes in which the name is searched; a streamed event is rarely longer. */
const HEAD_BYTES = 64 * 1024
const NAME = '"model"'

/**
 * Strings and the brackets between them. The end of the head may cut a string, which is then
 * matched without its closing quote: otherwise every quote in it would be tried as a beginning.
 */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]]/g
const nameValue = /\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")/y

const DEPTH_STEPS: ReadonlyMap<string, number> = new Map([
  ["{", 1],
  ["[", 1],
  ["}", -1],
  ["]", -1]
])

/** The range of the value of `model` at the top level of an object, with its quotes. */
const rangeOfName = (text: string): { readonly from: number; readonly to: number } | null => {
  let depth = 0
  for (const match of text.matchAll(token)) {
    depth += DEPTH_STEPS.get(match[0]) ?? 0
    if (depth !== 1 || match[0] !== NAME) continue
    nameValue.lastIndex = match.index + NAME.length
    const [all, value] = nameValue.exec(text) ?? []
    if (all === undefined || value === undefined) continue
    const to = match.index + NAME.length + all.length
    return { from: to - value.length, to }
  }
  return null
}

/** JSON, or a server-sent event of JSON, with another name of the model; unchanged without one. */
export const renameModel = (bytes: Uint8Array, model: string): Uint8Array => {
  const { buffer, byteOffset, byteLength } = bytes
  const head = Buffer.from(buffer, byteOffset, Math.min(byteLength, HEAD_BYTES))
  if (!head.includes(NAME)) return bytes
  // Latin-1 has one character for each byte, so offsets in the text are offsets in the bytes.
  const range = rangeOfName(head.toString("latin1"))
  return range === null
    ? bytes
    : Buffer.concat([
        bytes.subarray(0, range.from),
        Buffer.from(JSON.stringify(model)),
        bytes.subarray(range.to)
      ])
}

/** The same for a large answer that is not decoded. */
export const renameRawModel = (raw: RawAnswer, model: string): RawAnswer => {
  const [first, ...others] = raw.chunks
  if (first === undefined) return raw
  const chunks = [renameModel(first, model), ...others]
  return raw.isCounted ? new RawAnswer(chunks, raw.release) : new RawAnswer(chunks)
}

/** The same for a decoded answer. */
export const renameDecodedModel = (
  result: Readonly<Record<string, unknown>>,
  model: string
): Readonly<Record<string, unknown>> => ("model" in result ? { ...result, model } : result)
