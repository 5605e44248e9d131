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
const Usage = Schema.Struct({ input_tokens: Schema.Int, output_tokens: Schema.Int })
const TextDelta = Schema.Struct({
  type: Schema.Literal("response.output_text.delta"),
  delta: Schema.String
})
const Part = Schema.Struct({ text: Schema.optionalKey(Schema.String) })
const Item = Schema.Struct({
  type: Schema.String,
  content: Schema.optionalKey(Schema.Array(Part))
})
/** A response, or what of it the last event of its stream has. */
const WholeResponse = Schema.Struct({
  object: Schema.Literal("response"),
  error: nullish(Schema.Unknown),
  output: Schema.Array(Item),
  usage: nullish(Usage)
})
const LastEvent = Schema.Struct({
  type: Schema.Literals(["response.completed", "response.incomplete", "response.failed"]),
  response: WholeResponse
})
const asResponsePiece = Schema.decodeUnknownOption(
  Schema.Union([TextDelta, LastEvent, WholeResponse])
)
const ErrorEvent = Schema.Struct({ error: Schema.Unknown })
const decodeErrorEvent = Schema.decodeUnknownOption(ErrorEvent)
const asChunk = Schema.decodeUnknownOption(Chunk)

export interface StreamedText {
  readonly text: string
  readonly counts: Counts | null
}

const NOTHING: StreamedText = { text: "", counts: null }

/** The response that has been written; its counts are those of a chat by other names. */
const wholeText = ({ output, usage = null, error = null }: typeof WholeResponse.Type) => {
  if (error !== null) throw refusalIn({ error })
  return {
    text: output
      .filter(({ type }) => type === "message")
      .flatMap(({ content = [] }) => content.map(({ text = "" }) => text))
      .join(""),
    counts:
      usage === null
        ? null
        : { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens }
  }
}

const appendEvent = (before: StreamedText, value: unknown): StreamedText => {
  const piece = Option.getOrNull(asResponsePiece(value))
  if (piece !== null) {
    if ("delta" in piece) return { ...before, text: before.text + piece.delta }
    return wholeText("response" in piece ? piece.response : piece)
  }
  const errorEvent = decodeErrorEvent(value)
  if (Option.isSome(errorEvent)) throw refusalIn(errorEvent.value)
  const chunk = Option.getOrElse(asChunk(value), () => ({ choices: [], usage: null }))
  const [choice] = chunk.choices ?? []
  const text = choice?.delta?.content ?? choice?.message?.content ?? ""
  return { text: before.text + text, counts: chunk.usage ?? before.counts }
}

const END = "[DONE]"

/**
 * Reads a response and calls `onTold` with everything received so far. Returns the complete
 * response, or throws the error that ended it.
 */
export const readText = async (
  response: Response,
  onText: (streamedText: StreamedText) => void
): Promise<StreamedText> => {
  const type = response.headers.get("content-type") ?? ""
  if (!type.startsWith("text/event-stream") || response.body === null) {
    return appendEvent(NOTHING, await response.json())
  }
  const waiting: Array<string> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") waiting.push(event.data)
  })
  let streamedText = NOTHING
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  while (true) {
    const { done, value } = await reader.read()
    if (done) return streamedText
    parser.feed(value)
    for (const data of waiting.splice(0)) {
      if (data !== END) streamedText = appendEvent(streamedText, JSON.parse(data))
    }
    onText(streamedText)
  }
}
