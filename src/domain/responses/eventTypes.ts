/**
 * The types of the events that the gateway writes itself. A vendor with the Responses API may send
 * others, which its client gets as they are.
 */
export const eventTypes = [
  "response.created",
  "response.in_progress",
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.output_item.added",
  "response.output_item.done",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_text.delta",
  "response.output_text.done",
  "response.output_text.annotation.added",
  "response.refusal.delta",
  "response.refusal.done",
  "response.reasoning_text.delta",
  "response.reasoning_text.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.delta",
  "response.reasoning_summary_text.done",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.custom_tool_call_input.delta",
  "response.custom_tool_call_input.done"
] as const

export type EventType = (typeof eventTypes)[number]

/** What stands before the last word of the types of the events of a text. */
export type TextEvents =
  | "response.output_text"
  | "response.refusal"
  | "response.reasoning_text"
  | "response.reasoning_summary_text"
