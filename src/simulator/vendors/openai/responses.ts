/** Requests of the Responses API, and responses of the choices that a chat of them has. */
import { Effect, Schema } from "effect"
import type { AcceptedEntry } from "../../Book.ts"
import { sha256 } from "../../digest.ts"
import { decodeBody, type Refusal } from "../../Vendor.ts"
import { invalid, ofFault } from "../standardErrors.ts"
import type { ChatChoice } from "./chatChoices.ts"
import { type Chat, type chatUsage, decodeChat } from "./chats.ts"

const optional = Schema.optionalKey
type Fields = Readonly<Record<string, unknown>>

/** An event without its number in the stream. */
interface Event extends Fields {
  readonly type: string
}

// Requests

const Part = Schema.Struct({
  type: Schema.Literals(["input_text", "output_text", "input_image", "input_file", "refusal"]),
  text: optional(Schema.String),
  image_url: optional(Schema.NonEmptyString)
})

const Content = Schema.Union([Schema.String, Schema.Array(Part)])

const Item = Schema.Union([
  Schema.Struct({
    type: optional(Schema.Literal("message")),
    role: Schema.Literals(["system", "developer", "user", "assistant"]),
    content: Content
  }),
  Schema.Struct({
    type: Schema.Literals(["function_call", "custom_tool_call"]),
    call_id: Schema.NonEmptyString,
    name: Schema.NonEmptyString
  }),
  Schema.Struct({
    type: Schema.Literals(["function_call_output", "custom_tool_call_output"]),
    call_id: Schema.NonEmptyString,
    output: Content
  }),
  Schema.Struct({ type: Schema.Literal("reasoning"), encrypted_content: Schema.NonEmptyString })
])

const Tool = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("function"),
    name: Schema.NonEmptyString,
    parameters: optional(Schema.Record(Schema.String, Schema.Json))
  }),
  Schema.Struct({ type: Schema.Literal("custom"), name: Schema.NonEmptyString })
])

const NamedTool = Schema.Struct({
  type: Schema.Literals(["function", "custom"]),
  name: Schema.NonEmptyString
})

const Request = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Union([Schema.NonEmptyString, Schema.NonEmptyArray(Item)]),
  instructions: optional(Schema.String),
  previous_response_id: optional(Schema.String),
  stream: optional(Schema.Boolean),
  store: optional(Schema.Boolean),
  max_output_tokens: optional(Schema.Int.check(Schema.isGreaterThan(0))),
  tools: optional(Schema.Array(Tool)),
  tool_choice: optional(
    Schema.Union([
      Schema.Literals(["none", "auto", "required"]),
      NamedTool,
      Schema.Struct({
        type: Schema.Literal("allowed_tools"),
        mode: Schema.Literals(["auto", "required"]),
        tools: Schema.Array(NamedTool)
      })
    ])
  ),
  parallel_tool_calls: optional(Schema.Boolean),
  text: optional(
    Schema.Struct({
      format: optional(
        Schema.Struct({
          type: Schema.Literals(["text", "json_object", "json_schema"]),
          name: optional(Schema.String),
          description: optional(Schema.String),
          schema: optional(Schema.Json),
          strict: optional(Schema.Boolean)
        })
      ),
      verbosity: optional(Schema.String)
    })
  ),
  reasoning: optional(
    Schema.Struct({ effort: optional(Schema.String), summary: optional(Schema.String) })
  ),
  include: optional(Schema.Array(Schema.String)),
  top_logprobs: optional(Schema.Int),
  stream_options: optional(Schema.Struct({ include_obfuscation: optional(Schema.Boolean) }))
})
export type ResponsesRequest = typeof Request.Type

const decodeRequest = decodeBody(Request, { unknownFields: "ignored", refuse: ofFault })

const toolOf = ({ type, ...tool }: typeof Tool.Type | typeof NamedTool.Type) => ({
  type,
  [type]: tool
})

const partOf = ({ text, image_url }: typeof Part.Type) =>
  image_url === undefined
    ? { type: "text", text: text ?? "" }
    : { type: "image_url", image_url: { url: image_url } }

const contentOf = (content: typeof Content.Type) =>
  typeof content === "string" ? content : content.map(partOf)

/** A call is a message here without its input, which the written text does not depend on. */
const messageOf = (item: typeof Item.Type) => {
  if ("role" in item) return { role: item.role, content: contentOf(item.content) }
  if ("output" in item) return { role: "tool", content: contentOf(item.output) }
  return { role: "assistant", content: "" }
}

const choiceOf = (choice: ResponsesRequest["tool_choice"]) => {
  if (choice === undefined || typeof choice === "string") return choice
  if (choice.type !== "allowed_tools") return toolOf(choice)
  return {
    type: choice.type,
    allowed_tools: { mode: choice.mode, tools: choice.tools.map(toolOf) }
  }
}

export interface Conversation {
  readonly request: ResponsesRequest
  /** The chat that decides what is written. */
  readonly chat: Chat
}

/** Reads a request. Reasoning that the vendor has not encrypted is unknown to it, as it was not stored. */
export const decodeResponse = Effect.fnUntraced(function* (
  body: unknown
): Effect.fn.Return<Conversation, Refusal> {
  const request = yield* decodeRequest(body)
  if (request.previous_response_id !== undefined) {
    return yield* invalid("previous_response_id", "The previous response was not stored")
  }
  const { input, instructions, text, tools, tool_choice, reasoning } = request
  const format = text?.format
  const hasLogprobs = request.include?.includes("message.output_text.logprobs") ?? false
  const chat = yield* decodeChat(
    JSON.parse(
      JSON.stringify({
        model: request.model,
        messages: [
          ...(instructions === undefined ? [] : [{ role: "system", content: instructions }]),
          ...(typeof input === "string"
            ? [{ role: "user", content: input }]
            : input.map((item) => messageOf(item)))
        ],
        max_completion_tokens: request.max_output_tokens,
        tools: tools?.map(toolOf),
        tool_choice: choiceOf(tool_choice),
        parallel_tool_calls: request.parallel_tool_calls,
        reasoning_effort: reasoning?.effort,
        ...(hasLogprobs ? { logprobs: true, top_logprobs: request.top_logprobs } : {}),
        response_format:
          format === undefined || format.type !== "json_schema"
            ? format
            : { type: format.type, json_schema: { schema: format.schema } }
      })
    )
  )
  return { request, chat }
})

// Responses

/** A piece in which an item is streamed, with what its event has beside the text. */
interface Piece {
  readonly delta: string
  readonly notes: Fields
}

/** An item of the output with the pieces in which it is streamed. */
interface Output {
  readonly item: Fields
  readonly pieces: ReadonlyArray<Piece>
}

/** The characters that hide from an eavesdropper how long a piece is. */
const OBFUSCATED_LENGTH = 16

const piecesOf = (
  { stream_options }: ResponsesRequest,
  deltas: ReadonlyArray<string>,
  notesOf: (index: number) => Fields = () => ({})
): ReadonlyArray<Piece> =>
  deltas.map((delta, index) => ({
    delta,
    notes: {
      ...notesOf(index),
      ...(stream_options?.include_obfuscation === false
        ? {}
        : { obfuscation: sha256(delta).slice(0, OBFUSCATED_LENGTH - delta.length) })
    }
  }))

const idOf = (prefix: string, seed: string) => `${prefix}_${sha256(seed).slice(0, 32)}`

const thoughtsOf = (
  request: ResponsesRequest,
  { thoughts }: ChatChoice,
  seed: string
): ReadonlyArray<Output> => {
  const { reasoning, include = [] } = request
  if (thoughts.length === 0) return []
  const text = thoughts.join("")
  const hasSummary = reasoning?.summary !== undefined
  return [
    {
      item: {
        id: idOf("rs", seed),
        type: "reasoning",
        summary: hasSummary ? [{ type: "summary_text", text }] : [],
        ...(include.includes("reasoning.encrypted_content")
          ? { encrypted_content: Buffer.from(text).toString("base64") }
          : {})
      },
      pieces: hasSummary ? piecesOf(request, thoughts) : []
    }
  ]
}

const outputsOf = (
  request: ResponsesRequest,
  choice: ChatChoice,
  seed: string
): ReadonlyArray<Output> => {
  const status = choice.finish === "length" ? "incomplete" : "completed"
  const calls = choice.toolCalls.map(({ id, type, name, tokens }): Output => {
    const written = tokens.join("")
    const isFunction = type === "function"
    return {
      item: {
        id: idOf(isFunction ? "fc" : "ctc", id),
        type: isFunction ? "function_call" : "custom_tool_call",
        status,
        ...(isFunction ? { arguments: written } : { input: written }),
        call_id: id,
        name
      },
      pieces: piecesOf(request, tokens)
    }
  })
  const { isRefusal, logprobs, tokens } = choice
  const message: Output = {
    item: {
      id: idOf("msg", seed),
      type: "message",
      status,
      content: [
        isRefusal
          ? { type: "refusal", refusal: tokens.join("") }
          : {
              type: "output_text",
              annotations: [],
              logprobs: logprobs ?? [],
              text: tokens.join("")
            }
      ],
      role: "assistant"
    },
    pieces: piecesOf(request, tokens, (index) =>
      isRefusal ? {} : { logprobs: logprobs?.slice(index, index + 1) ?? [] }
    )
  }
  return [
    ...thoughtsOf(request, choice, seed),
    ...(choice.toolCalls.length > 0 ? calls : [message])
  ]
}

type ChatUsage = ReturnType<typeof chatUsage>

const detailsOf = (details: unknown): Fields => (typeof details === "object" ? { ...details } : {})

const usageOf = (usage: ChatUsage, { thoughts }: ChatChoice) => {
  const { prompt_tokens_details, completion_tokens_details }: Fields = usage
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: 0, ...detailsOf(prompt_tokens_details) },
    output_tokens: usage.completion_tokens,
    output_tokens_details: {
      reasoning_tokens: thoughts.length,
      ...detailsOf(completion_tokens_details)
    },
    total_tokens: usage.total_tokens
  }
}

export interface WrittenResponse {
  readonly request: ResponsesRequest
  readonly choice: ChatChoice
  readonly usage: ChatUsage
}

const textOf = ({ format, verbosity = "medium" }: NonNullable<ResponsesRequest["text"]> = {}) => ({
  format:
    format?.type === "json_schema"
      ? { description: null, strict: false, ...format }
      : (format ?? { type: "text" }),
  verbosity
})

const headOf = (entry: AcceptedEntry, request: ResponsesRequest) => ({
  id: entry.upstream_id,
  object: "response",
  created_at: Math.floor(Date.parse(entry.at) / 1000),
  background: false,
  completed_at: null,
  error: null,
  incomplete_details: null,
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  max_tool_calls: null,
  model: entry.model,
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null, ...request.reasoning },
  safety_identifier: null,
  service_tier: "default",
  store: request.store ?? true,
  temperature: 1,
  text: textOf(request.text),
  tool_choice: request.tool_choice ?? "auto",
  tools: request.tools ?? [],
  top_logprobs: request.top_logprobs ?? 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
  metadata: {}
})

/** The response without its usage, which `sim:nousage` leaves out. */
export const responseOf = (entry: AcceptedEntry, { request, choice }: WrittenResponse): Fields => {
  const isCut = choice.finish === "length"
  const head = headOf(entry, request)
  return {
    ...head,
    completed_at: isCut ? null : head.created_at,
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output: outputsOf(request, choice, entry.upstream_id).map(({ item }) => item)
  }
}

export const responseUsage = ({ usage, choice }: WrittenResponse) => usageOf(usage, choice)

/** What differs between the events of texts. */
interface TextForm {
  /** The events of the part that has the text, and the part's number in its item. */
  readonly part: "content_part" | "reasoning_summary_part"
  readonly index: Fields
  /** The events of the text, and its field in the last of them and in the part. */
  readonly kind: "output_text" | "refusal" | "reasoning_summary_text"
  readonly field: "text" | "refusal"
  readonly emptyPart: Fields
}

const answerForm: TextForm = {
  part: "content_part",
  index: { content_index: 0 },
  kind: "output_text",
  field: "text",
  emptyPart: { type: "output_text", annotations: [], logprobs: [], text: "" }
}

const refusalForm: TextForm = {
  ...answerForm,
  kind: "refusal",
  field: "refusal",
  emptyPart: { type: "refusal", refusal: "" }
}

const summaryForm: TextForm = {
  ...answerForm,
  part: "reasoning_summary_part",
  index: { summary_index: 0 },
  kind: "reasoning_summary_text",
  emptyPart: { type: "summary_text", text: "" }
}

const eventsOfText = (
  { part, index, kind, field, emptyPart }: TextForm,
  pieces: ReadonlyArray<Piece>,
  place: Fields,
  finalPart: Fields
): ReadonlyArray<Event> => {
  const at = { ...place, ...index }
  const notes = kind === "output_text" ? { logprobs: finalPart.logprobs } : {}
  return [
    { type: `response.${part}.added`, ...at, part: emptyPart },
    ...pieces.map((piece) => ({
      type: `response.${kind}.delta`,
      ...at,
      delta: piece.delta,
      ...piece.notes
    })),
    { type: `response.${kind}.done`, ...at, [field]: finalPart[field], ...notes },
    { type: `response.${part}.done`, ...at, part: finalPart }
  ]
}

const firstOf = (parts: unknown): Fields => (Array.isArray(parts) ? detailsOf(parts[0]) : {})

/** The events of one item, between the one that adds it and the one that ends it. */
const eventsOfItem = ({ item, pieces }: Output, output_index: number): ReadonlyArray<Event> => {
  const at = { item_id: item.id, output_index }
  switch (item.type) {
    case "reasoning":
      return pieces.length === 0 ? [] : eventsOfText(summaryForm, pieces, at, firstOf(item.summary))
    case "message": {
      const part = firstOf(item.content)
      return eventsOfText(part.type === "refusal" ? refusalForm : answerForm, pieces, at, part)
    }
    default: {
      const [kind, field] =
        item.type === "function_call"
          ? ["function_call_arguments", "arguments"]
          : ["custom_tool_call_input", "input"]
      return [
        ...pieces.map(({ delta, notes }) => ({
          type: `response.${kind}.delta`,
          ...at,
          delta,
          ...notes
        })),
        { type: `response.${kind}.done`, ...at, [field]: item[field] }
      ]
    }
  }
}

/** An item as it is added: without what is still to be written. */
const begunItem = (item: Fields): Fields => {
  switch (item.type) {
    case "message":
      return { ...item, status: "in_progress", content: [] }
    case "reasoning":
      return { ...item, summary: [] }
    case "function_call":
      return { ...item, status: "in_progress", arguments: "" }
    default:
      return { ...item, status: "in_progress", input: "" }
  }
}

/** The events of a streamed response, without the last one. */
export const eventsBeforeEnd = (
  entry: AcceptedEntry,
  { request, choice }: WrittenResponse
): ReadonlyArray<Event> => {
  const response = { ...headOf(entry, request), status: "in_progress", output: [], usage: null }
  return [
    { type: "response.created", response },
    { type: "response.in_progress", response },
    ...outputsOf(request, choice, entry.upstream_id).flatMap((output, output_index) => [
      { type: "response.output_item.added", output_index, item: begunItem(output.item) },
      ...eventsOfItem(output, output_index),
      { type: "response.output_item.done", output_index, item: output.item }
    ])
  ]
}
