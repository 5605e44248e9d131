/**
 * Writes a message of the Messages API, and the events of its stream, from a response. Clients read
 * the blocks of a message one after the other, so a block begins when the one before it has ended.
 */
import { type Fields, fieldsIn, listIn } from "../responses/responseObject.ts"
import type { ResponseEvent } from "../responses/responseWriter.ts"

/** An event of a streamed message, as its client gets it. */
interface MessageEvent extends Fields {
  readonly type: string
}

/** What is the same in every form of a message. */
export interface MessageHead {
  readonly id: string
  /** The model's name in the catalog. */
  readonly model: string
  readonly hasThoughts: boolean
  readonly stopSequences: ReadonlyArray<string>
  /** Reads the arguments of a call; null for a text that is no JSON, or too deep. */
  readonly parseJson: (text: string) => unknown
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "")
const countIn = (value: unknown): number => (typeof value === "number" ? value : 0)

/** Cached tokens are part of a chat's input, and stand beside it in a message. */
const usageOf = (usage: unknown): Fields => {
  const { input_tokens, input_tokens_details, output_tokens } = fieldsIn(usage)
  const cachedTokens = countIn(fieldsIn(input_tokens_details).cached_tokens)
  return {
    input_tokens: Math.max(0, countIn(input_tokens) - cachedTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: countIn(output_tokens)
  }
}

/** The text at which the vendor says that it stopped, if it is one of the request. */
export const stopSequenceIn = (chat: Fields, { stopSequences }: MessageHead): string | null => {
  const [choice = {}] = listIn(chat.choices)
  return stopSequences.find((text) => text === choice.stop_reason) ?? null
}

const hasRefusal = (item: Fields): boolean =>
  listIn(item.content).some(({ type }) => type === "refusal")

const stopReasonOf = (response: Fields, stopSequence: string | null): string | null => {
  const items = listIn(response.output)
  const { reason } = fieldsIn(response.incomplete_details)
  if (response.status === "failed") return null
  if (reason === "max_output_tokens") return "max_tokens"
  if (reason === "content_filter" || items.some(hasRefusal)) return "refusal"
  if (items.some(({ type }) => type === "function_call")) return "tool_use"
  return stopSequence === null ? "end_turn" : "stop_sequence"
}

const endOf = (response: Fields, stopSequence: string | null) => {
  const stop_reason = stopReasonOf(response, stopSequence)
  return { stop_reason, stop_sequence: stop_reason === "stop_sequence" ? stopSequence : null }
}

const messageOf = ({ id, model }: MessageHead, fields: Fields): Fields => ({
  id,
  type: "message",
  role: "assistant",
  model,
  ...fields
})

/** The arguments of a call as an object; those that are none stand under a name of their own. */
const inputOf = (text: string, { parseJson }: MessageHead): Fields => {
  if (text.trim() === "") return {}
  const value = parseJson(text)
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { ...value }
    : { invalid_json: text }
}

const blocksOf = (item: Fields, head: MessageHead): ReadonlyArray<Fields> => {
  switch (item.type) {
    case "message":
      return listIn(item.content).map(({ text, refusal }) => ({
        type: "text",
        text: textIn(text) || textIn(refusal)
      }))
    case "reasoning":
      return head.hasThoughts
        ? listIn(item.content).map(({ text }) => ({
            type: "thinking",
            thinking: textIn(text),
            signature: ""
          }))
        : []
    case "function_call":
      return [
        {
          type: "tool_use",
          id: item.call_id,
          name: item.name,
          input: inputOf(textIn(item.arguments), head)
        }
      ]
    default:
      return []
  }
}

/** The whole message of a response that has ended. */
export const messageOfResponse = (
  head: MessageHead,
  response: Fields,
  stopSequence: string | null
): Fields =>
  messageOf(head, {
    content: listIn(response.output).flatMap((item) => blocksOf(item, head)),
    ...endOf(response, stopSequence),
    usage: usageOf(response.usage)
  })

/** How the pieces of a block are sent, by the type of its item. */
const deltas = {
  message: (text: string) => ({ type: "text_delta", text }),
  reasoning: (thinking: string) => ({ type: "thinking_delta", thinking }),
  function_call: (partial_json: string) => ({ type: "input_json_delta", partial_json })
} as const

const isBlockType = (type: unknown): type is keyof typeof deltas =>
  typeof type === "string" && Object.hasOwn(deltas, type)

const startOf = (item: Fields): Fields => {
  switch (item.type) {
    case "reasoning":
      return { type: "thinking", thinking: "", signature: "" }
    case "function_call":
      return { type: "tool_use", id: item.call_id, name: item.name, input: {} }
    default:
      return { type: "text", text: "" }
  }
}

/** A block that has begun at the vendor. */
interface WaitingBlock {
  readonly id: unknown
  readonly start: Fields
  readonly type: keyof typeof deltas
  /** All that the vendor has written of it. */
  text: string
  /** What the client has not got yet. */
  pieces: Array<string>
  hasEnded: boolean
}

export interface MessageWriter {
  /** The events that follow from those of the response. */
  readonly add: (events: ReadonlyArray<ResponseEvent>) => ReadonlyArray<MessageEvent>
  /** The last events of a message whose vendor has said all. */
  readonly end: (
    events: ReadonlyArray<ResponseEvent>,
    stopSequence: string | null
  ) => ReadonlyArray<MessageEvent>
}

export const makeMessageWriter = (head: MessageHead): MessageWriter => {
  /** The blocks that have not ended for the client, the first of which has begun. */
  const queue: Array<WaitingBlock> = []
  let index = 0
  let hasBegun = false

  const startEvents = (): ReadonlyArray<MessageEvent> => {
    if (hasBegun) return []
    hasBegun = true
    const usage = usageOf(null)
    const empty = { content: [], stop_reason: null, stop_sequence: null, usage }
    return [{ type: "message_start", message: messageOf(head, empty) }, { type: "ping" }]
  }

  const startEvent = ({ start: content_block }: WaitingBlock): MessageEvent => ({
    type: "content_block_start",
    index,
    content_block
  })

  const pieceEvents = (block: WaitingBlock): ReadonlyArray<MessageEvent> =>
    block.pieces
      .splice(0)
      .map((piece) => ({ type: "content_block_delta", index, delta: deltas[block.type](piece) }))

  /** A call may end only with the whole response, but its arguments are complete before that. */
  const isOver = ({ hasEnded, type, text }: WaitingBlock): boolean =>
    hasEnded || (queue.length > 1 && type === "function_call" && head.parseJson(text) !== null)

  /** Sends what has come of the first block, and of those after it while the first one is over. */
  const advance = (): ReadonlyArray<MessageEvent> => {
    const events: Array<MessageEvent> = []
    let [block] = queue
    while (block !== undefined) {
      events.push(...pieceEvents(block))
      if (!isOver(block)) break
      events.push({ type: "content_block_stop", index: index++ })
      queue.shift()
      block = queue[0]
      if (block !== undefined) events.push(startEvent(block))
    }
    return events
  }

  const begin = (item: Fields): ReadonlyArray<MessageEvent> => {
    const { type, id } = item
    if (!isBlockType(type) || (type === "reasoning" && !head.hasThoughts)) return []
    const block = { id, type, start: startOf(item), text: "", pieces: [], hasEnded: false }
    return queue.push(block) === 1 ? [startEvent(block)] : []
  }

  const translate = (event: ResponseEvent): ReadonlyArray<MessageEvent> => {
    if (event.type === "response.output_item.added") return begin(fieldsIn(event.item))
    const isDone = event.type === "response.output_item.done"
    const id = isDone ? fieldsIn(event.item).id : event.item_id
    const block = queue.find((one) => one.id === id)
    if (block === undefined) return []
    if (isDone) block.hasEnded = true
    else if (event.type.endsWith(".delta")) {
      const piece = textIn(event.delta)
      block.text += piece
      block.pieces.push(piece)
    }
    return []
  }

  const translateAll = (events: ReadonlyArray<ResponseEvent>): ReadonlyArray<MessageEvent> =>
    events.flatMap((event) => [...translate(event), ...advance()])

  return {
    add: (events) => [...startEvents(), ...translateAll(events)],
    end: (events, stopSequence) => {
      const body = translateAll(events)
      const response = fieldsIn(events.at(-1)?.response)
      if (response.status === "failed") {
        const { message } = fieldsIn(response.error)
        const error = { type: "error", error: { type: "api_error", message } }
        return [...startEvents(), ...body, error]
      }
      return [
        ...startEvents(),
        ...body,
        {
          type: "message_delta",
          delta: endOf(response, stopSequence),
          usage: usageOf(response.usage)
        },
        { type: "message_stop" }
      ]
    }
  }
}
