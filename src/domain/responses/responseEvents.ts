/** The events of a response that came whole, for a client that ordered a stream. */
import type { EventType, TextEvents } from "./eventTypes.ts"
import type { Draft } from "./outputItems.ts"
import { type Fields, fieldsIn, listIn } from "./responseObject.ts"
import type { ResponseEvent } from "./responseWriter.ts"

/** The events of a part with a text, by the part's type. */
const textParts: ReadonlyMap<
  unknown,
  { readonly text: TextEvents; readonly field: "text" | "refusal" }
> = new Map([
  ["output_text", { text: "response.output_text", field: "text" }],
  ["refusal", { text: "response.refusal", field: "refusal" }],
  ["reasoning_text", { text: "response.reasoning_text", field: "text" }],
  ["summary_text", { text: "response.reasoning_summary_text", field: "text" }]
])

/** The fields of an item with its parts, with the names of the parts' events and numbers. */
const partLists = [
  { list: "summary", part: "response.reasoning_summary_part", index: "summary_index" },
  { list: "content", part: "response.content_part", index: "content_index" }
] as const

/** The field of a call with its input, and the events of the input. */
const inputs: ReadonlyMap<
  unknown,
  {
    readonly field: "arguments" | "input"
    readonly events: "response.function_call_arguments" | "response.custom_tool_call_input"
  }
> = new Map([
  ["function_call", { field: "arguments", events: "response.function_call_arguments" }],
  ["custom_tool_call", { field: "input", events: "response.custom_tool_call_input" }]
])

const eventsOfPart = (
  part: Fields,
  name: (typeof partLists)[number]["part"],
  at: Fields
): ReadonlyArray<Draft> => {
  const kind = textParts.get(part.type)
  if (kind === undefined) {
    return [
      { type: `${name}.added`, ...at, part },
      { type: `${name}.done`, ...at, part }
    ]
  }
  const text = part[kind.field]
  const isAnswer = part.type === "output_text"
  const notes = isAnswer ? { logprobs: part.logprobs ?? [] } : {}
  const emptyNotes = isAnswer ? { annotations: [], logprobs: [] } : {}
  const deltas: ReadonlyArray<Draft> =
    text === "" || text === undefined
      ? []
      : [{ type: `${kind.text}.delta`, ...at, delta: text, ...notes }]
  return [
    { type: `${name}.added`, ...at, part: { ...part, [kind.field]: "", ...emptyNotes } },
    ...deltas,
    ...listIn(part.annotations).map(
      (annotation, annotation_index): Draft => ({
        type: "response.output_text.annotation.added",
        ...at,
        annotation_index,
        annotation
      })
    ),
    { type: `${kind.text}.done`, ...at, [kind.field]: text, ...notes },
    { type: `${name}.done`, ...at, part }
  ]
}

const eventsInside = (item: Fields, at: Fields): ReadonlyArray<Draft> => {
  const input = inputs.get(item.type)
  if (input === undefined) {
    return partLists.flatMap(({ list, part: name, index }) =>
      listIn(item[list]).flatMap((part, number) =>
        eventsOfPart(part, name, { ...at, [index]: number })
      )
    )
  }
  const { field, events } = input
  const text = item[field]
  const deltas: ReadonlyArray<Draft> =
    text === "" ? [] : [{ type: `${events}.delta`, ...at, delta: text }]
  return [
    ...deltas,
    {
      type: `${events}.done`,
      ...at,
      ...(field === "arguments" ? { name: item.name } : {}),
      [field]: text
    }
  ]
}

/** An item as it is added: without what its further events bring. */
const emptyItem = (item: Fields): Fields => {
  const input = inputs.get(item.type)
  return {
    ...item,
    ...("status" in item ? { status: "in_progress" } : {}),
    ...(input === undefined ? {} : { [input.field]: "" }),
    ...Object.fromEntries(
      partLists.flatMap(({ list }) => (Array.isArray(item[list]) ? [[list, []]] : []))
    )
  }
}

const eventsOfItem = (item: Fields, output_index: number): ReadonlyArray<Draft> => [
  { type: "response.output_item.added", output_index, item: emptyItem(item) },
  ...eventsInside(item, { item_id: item.id, output_index }),
  { type: "response.output_item.done", output_index, item }
]

/** The type of the last event; a response of another status is one that failed. */
const lastTypeOf = ({ status }: Fields): EventType =>
  status === "completed" || status === "incomplete" ? `response.${status}` : "response.failed"

/** All events of the response, as if its vendor had written each text at once. */
export const eventsOfResponse = (response: Fields): ReadonlyArray<ResponseEvent> => {
  const beginning = fieldsIn({
    ...response,
    status: "in_progress",
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null
  })
  const events: ReadonlyArray<Draft> = [
    { type: "response.created", response: beginning },
    { type: "response.in_progress", response: beginning },
    ...listIn(response.output).flatMap(eventsOfItem),
    { type: lastTypeOf(response), response }
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}
