/**
 * Writes a response and its events from a chat in the common standard form, chunk by chunk. A chat
 * that came whole is written as one chunk.
 */
import { Predicate } from "effect"
import {
  answerText,
  type Draft,
  type OpenItem,
  openCall,
  openText,
  reasoningSummary,
  reasoningText,
  refusalText,
  type TextKind,
  type TextPiece
} from "./outputItems.ts"
import {
  type Fields,
  fieldsIn,
  listIn,
  type ResponseHead,
  type ResponseState,
  responseObject
} from "./responseObject.ts"

/** An event of a streamed response, as its client gets it. */
export interface ResponseEvent extends Fields {
  readonly type: string
  readonly sequence_number: number
}

/** The text, or an empty one for every other value. */
const textIn = (value: unknown): string => (typeof value === "string" ? value : "")

const countIn = (fields: Fields, name: string): number => {
  const count = fields[name]
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : 0
}

/** The usage of a chat in the names of a response; null where the vendor counted none. */
const responseUsage = (chatUsage: unknown): Fields | null => {
  if (!Predicate.isObject(chatUsage)) return null
  const usage = fieldsIn(chatUsage)
  const input_tokens = countIn(usage, "prompt_tokens")
  const output_tokens = countIn(usage, "completion_tokens")
  const cachedTokens = countIn(fieldsIn(usage.prompt_tokens_details), "cached_tokens")
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: cachedTokens || countIn(usage, "prompt_cache_hit_tokens")
    },
    output_tokens,
    output_tokens_details: {
      reasoning_tokens: countIn(fieldsIn(usage.completion_tokens_details), "reasoning_tokens")
    },
    total_tokens: input_tokens + output_tokens
  }
}

/** How a choice ended, where its model did not say all that it would. */
const ends: ReadonlyMap<unknown, Pick<ResponseState, "status" | "reason" | "error">> = new Map([
  ["length", { status: "incomplete", reason: "max_output_tokens" }],
  ["content_filter", { status: "incomplete", reason: "content_filter" }],
  [
    "error",
    {
      status: "failed",
      error: { code: "server_error", message: "The vendor failed while it wrote the text" }
    }
  ]
])

/** A vendor's link to a source, whose fields a chat nests under its type. */
const annotationOf = (annotation: Fields): Fields => {
  const { type } = annotation
  return typeof type === "string" && Predicate.isObject(annotation[type])
    ? { type, ...fieldsIn(annotation[type]) }
    : annotation
}

/** The pieces of a message, of which most have one kind alone. */
const textsOf = (
  delta: Fields,
  choice: Fields,
  thought: TextKind
): ReadonlyArray<readonly [TextKind, TextPiece]> => {
  const plain = (text: string): TextPiece => ({ delta: text, annotations: [], logprobs: [] })
  const reasoning = textIn(delta.reasoning_content) || textIn(delta.reasoning)
  const annotations = listIn(delta.annotations).map(annotationOf)
  const answer: TextPiece = {
    delta: textIn(delta.content),
    annotations,
    logprobs: listIn(fieldsIn(choice.logprobs).content)
  }
  return [
    [thought, plain(reasoning)] as const,
    [answerText, answer] as const,
    [refusalText, plain(textIn(delta.refusal))] as const
  ].filter(([, piece]) => piece.delta !== "" || piece.annotations.length > 0)
}

/** A call that is being written. */
interface OpenCall {
  readonly item: OpenItem<string>
  readonly at: number
  readonly callId: string
}

/** A piece of a tool call: its number in the message, its names, and a part of its input. */
const callPieceOf = (piece: Fields) => {
  const isCustom = piece.type === "custom" || Predicate.isObject(piece.custom)
  const tool = fieldsIn(isCustom ? piece.custom : piece.function)
  return {
    number: piece.index,
    callId: textIn(piece.id),
    name: textIn(tool.name),
    isCustom,
    input: textIn(isCustom ? tool.input : tool.arguments)
  }
}

/**
 * Writes one response from what its vendor sends. Each method returns the events that follow, the
 * first one with those that begin the response.
 */
export interface ResponseWriter {
  /** Adds what a vendor sent: a chunk of a chat, or an event of the vendor's own response. */
  readonly add: (piece: Fields) => ReadonlyArray<ResponseEvent>
  /** Ends a response whose vendor has said all. */
  readonly complete: (completedAtSeconds: number) => ResponseEnd
  /** Ends a response that was cut short. */
  readonly fail: (error: NonNullable<ResponseState["error"]>) => ResponseEnd
}

export interface ResponseEnd {
  readonly events: ReadonlyArray<ResponseEvent>
  readonly response: Fields
}

/** The writer for a vendor of chats. */
export const makeChatWriter = (head: ResponseHead): ResponseWriter => {
  const { reasoning } = head.request
  const hasSummary = (reasoning?.summary ?? reasoning?.generate_summary ?? null) !== null
  const thought = hasSummary ? reasoningSummary : reasoningText
  const output: Array<Fields> = []
  let sequence = 0
  let items = 0
  let usage: Fields | null = null
  let ending: Pick<ResponseState, "status" | "reason" | "error"> = { status: "completed" }
  let hasBegun = false
  /** The text that is being written; texts follow each other. */
  let text: {
    readonly kind: TextKind
    readonly item: OpenItem<TextPiece>
    readonly at: number
  } | null = null
  /** The calls that are being written, by their numbers: their pieces may alternate. */
  const calls = new Map<unknown, OpenCall>()

  const nextPlace = (prefix: string) => {
    const outputIndex = items++
    const number = outputIndex.toString(16).padStart(4, "0")
    return { id: `${prefix}_${head.id.slice("resp_".length)}${number}`, outputIndex }
  }

  const close = (
    { item, at }: { readonly item: Pick<OpenItem<never>, "close">; readonly at: number },
    status: "completed" | "incomplete"
  ): ReadonlyArray<Draft> => {
    const end = item.close(status)
    output[at] = end.item
    return end.events
  }

  const closeAll = (status: "completed" | "incomplete"): ReadonlyArray<Draft> => {
    const open = [...(text === null ? [] : [text]), ...calls.values()]
    text = null
    calls.clear()
    return open.flatMap((one) => close(one, status))
  }

  const closeText = (): ReadonlyArray<Draft> => {
    const open = text
    text = null
    return open === null ? [] : close(open, "completed")
  }

  const addText = (kind: TextKind, piece: TextPiece): ReadonlyArray<Draft> => {
    if (text?.kind === kind) return text.item.add(piece)
    const before = closeText()
    const place = nextPlace(kind.prefix)
    const item = openText(kind, place)
    text = { kind, item, at: place.outputIndex }
    return [...before, ...item.opening, ...item.add(piece)]
  }

  /**
   * The call that a piece continues. A vendor that does not number its calls, or gives all of them
   * one number, begins each with its name and, mostly, an id of its own.
   */
  const openCallOf = (
    number: unknown,
    { callId, name }: { readonly callId: string; readonly name: string }
  ): OpenCall | null => {
    const open = calls.get(number)
    if (open === undefined) return null
    const isOther = callId === "" ? number === undefined : callId !== open.callId
    return name !== "" && isOther ? null : open
  }

  const addCall = (fields: Fields): ReadonlyArray<Draft> => {
    const { number, callId, name, isCustom, input } = callPieceOf(fields)
    const open = openCallOf(number, { callId, name })
    if (open !== null) return open.item.add(input)
    const earlier = calls.get(number)
    const before = [...closeText(), ...(earlier === undefined ? [] : close(earlier, "completed"))]
    const place = nextPlace(isCustom ? "ctc" : "fc")
    const item = openCall({ callId: callId || `call_${place.id}`, name, isCustom }, place)
    calls.set(number, { item, at: place.outputIndex, callId })
    return [...before, ...item.opening, ...item.add(input)]
  }

  const beginning = (): ReadonlyArray<Draft> => {
    if (hasBegun) return []
    hasBegun = true
    const response = responseObject(head, { status: "in_progress", output: [], usage: null })
    return [
      { type: "response.created", response },
      { type: "response.in_progress", response }
    ]
  }

  const numberEvents = (drafts: ReadonlyArray<Draft>): ReadonlyArray<ResponseEvent> =>
    [...beginning(), ...drafts].map((draft) => ({ ...draft, sequence_number: sequence++ }))

  const end = (state: Omit<ResponseState, "output" | "usage">): ResponseEnd => {
    const closing = closeAll(state.status === "completed" ? "completed" : "incomplete")
    const response = responseObject(head, { ...state, output, usage })
    const last: Draft = { type: `response.${state.status}`, response }
    return { events: numberEvents([...closing, last]), response }
  }

  return {
    add: (chunk) => {
      usage = responseUsage(chunk.usage) ?? usage
      const choice = listIn(chunk.choices).find(({ index = 0 }) => index === 0) ?? {}
      const delta = fieldsIn(choice.delta ?? choice.message)
      const pieces = listIn(delta.tool_calls)
      ending = ends.get(choice.finish_reason) ?? ending
      return numberEvents([
        ...textsOf(delta, choice, thought).flatMap(([kind, piece]) => addText(kind, piece)),
        // The calls of a whole message have no numbers but their places.
        ...(choice.message === undefined
          ? pieces
          : pieces.map((piece, index) => ({ index, ...piece }))
        ).flatMap(addCall)
      ])
    },
    complete: (completedAtSeconds) => end({ ...ending, completedAtSeconds }),
    fail: (error) => end({ status: "failed", error })
  }
}
