/**
 * The items of a response's output while they are written: texts of an answer, refusals, reasoning,
 * and calls of the client's tools. Each has one part.
 */
import type { EventType, TextEvents } from "./eventTypes.ts"
import type { Fields } from "./responseObject.ts"

/** An event without its number in the stream. */
export interface Draft extends Fields {
  readonly type: EventType
}

type ItemStatus = "in_progress" | "completed" | "incomplete"

/** The item's id and its number in the output. */
interface Place {
  readonly id: string
  readonly outputIndex: number
}

interface ItemEnd {
  readonly events: ReadonlyArray<Draft>
  readonly item: Fields
}

/** What stands beside an answer's text. */
interface TextNotes {
  readonly annotations: ReadonlyArray<Fields>
  readonly logprobs: ReadonlyArray<Fields>
}

export interface OpenItem<Piece> {
  /** The events with which the item begins. */
  readonly opening: ReadonlyArray<Draft>
  readonly add: (piece: Piece) => ReadonlyArray<Draft>
  readonly close: (status: ItemStatus) => ItemEnd
}

const withOpening = <Piece>(
  place: Place,
  itemOf: (status: ItemStatus) => Fields,
  item: Pick<OpenItem<Piece>, "add"> & {
    readonly first: ReadonlyArray<Draft>
    readonly last: () => ReadonlyArray<Draft>
  }
): OpenItem<Piece> => {
  const { outputIndex: output_index } = place
  return {
    opening: [
      { type: "response.output_item.added", output_index, item: itemOf("in_progress") },
      ...item.first
    ],
    add: item.add,
    close: (status) => {
      const finalItem = itemOf(status)
      return {
        events: [
          ...item.last(),
          { type: "response.output_item.done", output_index, item: finalItem }
        ],
        item: finalItem
      }
    }
  }
}

/** A kind of text, with the names of its events and fields. */
export interface TextKind {
  readonly prefix: "msg" | "rs"
  /** The prefix of the events of the text. */
  readonly text: TextEvents
  /** The prefix of the events of the part that has the text. */
  readonly part: "response.content_part" | "response.reasoning_summary_part"
  /** The field that numbers the part within its item. */
  readonly index: "content_index" | "summary_index"
  /** The field of the whole text in the event that ends it. */
  readonly whole: "text" | "refusal"
  /** Whether the text has notes. */
  readonly hasNotes: boolean
  readonly partOf: (text: string, notes: TextNotes) => Fields
  /** The fields of the item beside its id; `parts` is empty until the first part is open. */
  readonly itemOf: (parts: ReadonlyArray<Fields>, status: ItemStatus) => Fields
}

const messageOf = (content: ReadonlyArray<Fields>, status: ItemStatus): Fields => ({
  type: "message",
  status,
  role: "assistant",
  content
})

export const answerText: TextKind = {
  prefix: "msg",
  text: "response.output_text",
  part: "response.content_part",
  index: "content_index",
  whole: "text",
  hasNotes: true,
  partOf: (text, notes) => ({ type: "output_text", text, ...notes }),
  itemOf: messageOf
}

export const refusalText: TextKind = {
  prefix: "msg",
  text: "response.refusal",
  part: "response.content_part",
  index: "content_index",
  whole: "refusal",
  hasNotes: false,
  partOf: (refusal) => ({ type: "refusal", refusal }),
  itemOf: messageOf
}

export const reasoningText: TextKind = {
  prefix: "rs",
  text: "response.reasoning_text",
  part: "response.content_part",
  index: "content_index",
  whole: "text",
  hasNotes: false,
  partOf: (text) => ({ type: "reasoning_text", text }),
  itemOf: (content) => ({ type: "reasoning", summary: [], content })
}

/** Reasoning for a client that asked for a summary: what the vendor shows of it is one. */
export const reasoningSummary: TextKind = {
  prefix: "rs",
  text: "response.reasoning_summary_text",
  part: "response.reasoning_summary_part",
  index: "summary_index",
  whole: "text",
  hasNotes: false,
  partOf: (text) => ({ type: "summary_text", text }),
  itemOf: (summary) => ({ type: "reasoning", summary })
}

export interface TextPiece extends TextNotes {
  readonly delta: string
}

export const openText = (kind: TextKind, place: Place): OpenItem<TextPiece> => {
  const at = { item_id: place.id, output_index: place.outputIndex, [kind.index]: 0 }
  const annotations: Array<Fields> = []
  const logprobs: Array<Fields> = []
  let text = ""
  const part = () => kind.partOf(text, { annotations: [...annotations], logprobs: [...logprobs] })
  const notesOf = (notes: ReadonlyArray<Fields>) => (kind.hasNotes ? { logprobs: notes } : {})
  const itemOf = (status: ItemStatus) => ({
    id: place.id,
    ...kind.itemOf(status === "in_progress" ? [] : [part()], status)
  })

  return withOpening(place, itemOf, {
    first: [{ type: `${kind.part}.added`, ...at, part: part() }],
    add: (piece) => {
      const events: Array<Draft> = []
      if (piece.delta !== "") {
        text += piece.delta
        logprobs.push(...piece.logprobs)
        events.push({
          type: `${kind.text}.delta`,
          ...at,
          delta: piece.delta,
          ...notesOf(piece.logprobs)
        })
      }
      for (const annotation of piece.annotations) {
        const annotation_index = annotations.push(annotation) - 1
        events.push({
          type: "response.output_text.annotation.added",
          ...at,
          annotation_index,
          annotation
        })
      }
      return events
    },
    last: () => [
      { type: `${kind.text}.done`, ...at, [kind.whole]: text, ...notesOf(logprobs) },
      { type: `${kind.part}.done`, ...at, part: part() }
    ]
  })
}

export interface ToolCall {
  readonly callId: string
  readonly name: string
  /** Whether the tool takes a text instead of arguments in JSON. */
  readonly isCustom: boolean
}

/** A call of a tool, whose pieces are those of its input. */
export const openCall = ({ callId, name, isCustom }: ToolCall, place: Place): OpenItem<string> => {
  const at = { item_id: place.id, output_index: place.outputIndex }
  const [type, field, events] = isCustom
    ? (["custom_tool_call", "input", "response.custom_tool_call_input"] as const)
    : (["function_call", "arguments", "response.function_call_arguments"] as const)
  let input = ""
  const itemOf = (status: ItemStatus) => ({
    id: place.id,
    type,
    status,
    call_id: callId,
    name,
    [field]: input
  })
  return withOpening(place, itemOf, {
    first: [],
    add: (delta) => {
      if (delta === "") return []
      input += delta
      return [{ type: `${events}.delta`, ...at, delta }]
    },
    last: () => [{ type: `${events}.done`, ...at, ...(isCustom ? {} : { name }), [field]: input }]
  })
}
