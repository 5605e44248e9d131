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

/** The range of the name in the bytes of JSON, or of a server-sent event of JSON. */
const rangeIn = ({ buffer, byteOffset, byteLength }: Uint8Array) => {
  const head = Buffer.from(buffer, byteOffset, Math.min(byteLength, HEAD_BYTES))
  // Latin-1 has one character for each byte, so offsets in the text are offsets in the bytes.
  return head.includes(NAME) ? rangeOfName(head.toString("latin1")) : null
}

/**
 * Gives JSON, or server-sent events of JSON, another name of the model; bytes without a name are
 * unchanged. Most events of a stream begin with the same bytes up to the name, and are not searched
 * again.
 */
export const makeModelRenaming = (model: string): ((bytes: Uint8Array) => Uint8Array) => {
  const name = Buffer.from(JSON.stringify(model))
  let lastBeginning = Buffer.alloc(0)
  let lastFrom = 0
  return (bytes) => {
    const { length } = lastBeginning
    if (length === 0 || !lastBeginning.equals(bytes.subarray(0, length))) {
      const range = rangeIn(bytes)
      if (range === null) return bytes
      lastBeginning = Buffer.from(bytes.subarray(0, range.to))
      lastFrom = range.from
    }
    const rest = bytes.subarray(lastBeginning.length)
    return Buffer.concat([bytes.subarray(0, lastFrom), name, rest])
  }
}

/** Names the ordered model in a large answer that is not decoded. */
export const renameRawModel = (raw: RawAnswer, model: string): RawAnswer => {
  const [first, ...others] = raw.chunks
  if (first === undefined) return raw
  const chunks = [makeModelRenaming(model)(first), ...others]
  return raw.isCounted ? new RawAnswer(chunks, raw.release) : new RawAnswer(chunks)
}

/** The same for a decoded answer. */
export const renameDecodedModel = (
  result: Readonly<Record<string, unknown>>,
  model: string
): Readonly<Record<string, unknown>> => ("model" in result ? { ...result, model } : result)
