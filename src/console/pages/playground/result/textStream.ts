/** The response of a text model, as a stream of events or as one JSON body. */
import { Option, Schema } from "effect"
import { Sse } from "effect/encoding"
import { refusalIn } from "../../../gateway/files.ts"

const Counts = Schema.Struct({ prompt_tokens: Schema.Int, completion_tokens: Schema.Int })
export type Counts = typeof Counts.Type

const nullish = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const Piece = Schema.Struct({ content: nullish(Schema.String) })
const Choices = Schema.Array(
  Schema.Struct({ delta: Schema.optionalKey(Piece), message: Schema.optionalKey(Piece) })
)
const Chunk = Schema.Struct({ choices: Schema.optionalKey(Choices), usage: nullish(Counts) })
const Refused = Schema.Struct({ error: Schema.Unknown })
const asRefused = Schema.decodeUnknownOption(Refused)
const asChunk = Schema.decodeUnknownOption(Chunk)

export interface Told {
  readonly text: string
  readonly counts: Counts | null
}

const NOTHING: Told = { text: "", counts: null }

const joined = (before: Told, value: unknown): Told => {
  const refused = asRefused(value)
  if (Option.isSome(refused)) throw refusalIn(refused.value)
  const chunk = Option.getOrElse(asChunk(value), () => ({ choices: [], usage: null }))
  const [choice] = chunk.choices ?? []
  const piece = choice?.delta?.content ?? choice?.message?.content ?? ""
  return { text: before.text + piece, counts: chunk.usage ?? before.counts }
}

const END = "[DONE]"

/**
 * Reads a response and calls `onTold` with everything received so far. Returns the complete
 * response, or throws the error that ended it.
 */
export const readText = async (response: Response, onTold: (told: Told) => void): Promise<Told> => {
  const type = response.headers.get("content-type") ?? ""
  if (!type.startsWith("text/event-stream") || response.body === null) {
    return joined(NOTHING, await response.json())
  }
  const waiting: Array<string> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") waiting.push(event.data)
  })
  let told = NOTHING
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  while (true) {
    const { done, value } = await reader.read()
    if (done) return told
    parser.feed(value)
    for (const data of waiting.splice(0)) {
      if (data !== END) told = joined(told, JSON.parse(data))
    }
    onTold(told)
  }
}
