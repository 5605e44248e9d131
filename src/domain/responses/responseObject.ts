/** The response object of the Responses API, as clients and the store get it. */
import { Predicate } from "effect"
import type { ResponsesBody, TextFormat, Tool } from "./ResponsesRequest.ts"

export type Fields = Readonly<Record<string, unknown>>

/** The fields of an object; none of any other value. */
export const fieldsIn = (value: unknown): Fields => (Predicate.isObject(value) ? { ...value } : {})

/** The objects of a list; none of any other value. */
export const listIn = (value: unknown): ReadonlyArray<Fields> =>
  Array.isArray(value) ? value.map(fieldsIn) : []

/** What is the same in every form of a response, from its beginning to its end. */
export interface ResponseHead {
  /** `resp_` and 32 hexadecimal digits. */
  readonly id: string
  readonly createdAtSeconds: number
  /** The model's name in the catalog. */
  readonly model: string
  readonly request: Omit<ResponsesBody, "input"> & Partial<Pick<ResponsesBody, "input">>
}

export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed"
  readonly output: ReadonlyArray<Fields>
  readonly usage: Fields | null
  /** Why a response is incomplete. */
  readonly reason?: "max_output_tokens" | "content_filter"
  readonly error?: { readonly code: string; readonly message: string }
  readonly completedAtSeconds?: number
}

/** The fields in which a response repeats its request, with what stands for one left out. */
const repeatedFields: Fields = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: null,
  tool_choice: "auto",
  top_logprobs: 0,
  top_p: null,
  user: null
}

/** A tool with every field of the standard; a field that the client left out is null. */
const toolOf = (tool: Tool): Fields =>
  tool.type === "function" ? { description: null, parameters: null, strict: null, ...tool } : tool

const formatOf = (format: TextFormat): Fields =>
  format.type === "json_schema" ? { description: null, strict: false, ...format } : format

export const repeatOf = ({ model, request }: Pick<ResponseHead, "model" | "request">): Fields => {
  const values: Fields = request
  const { reasoning, text } = request
  const { format, verbosity, ...textFields } = text ?? {}
  return {
    background: false,
    max_tool_calls: null,
    service_tier: "default",
    truncation: "disabled",
    model,
    ...Object.fromEntries(
      Object.entries(repeatedFields).map(([name, absent]) => [name, values[name] ?? absent])
    ),
    tools: request.tools?.map(toolOf) ?? [],
    reasoning: { effort: null, summary: reasoning?.generate_summary ?? null, ...reasoning },
    text: {
      ...textFields,
      format: formatOf(format ?? { type: "text" }),
      verbosity: verbosity ?? "medium"
    }
  }
}

export const responseObject = (
  head: ResponseHead,
  { status, output, usage, reason, error, completedAtSeconds }: ResponseState
): Fields => ({
  id: head.id,
  object: "response",
  created_at: head.createdAtSeconds,
  completed_at: status === "completed" ? (completedAtSeconds ?? null) : null,
  status,
  error: error ?? null,
  incomplete_details: reason === undefined ? null : { reason },
  output,
  usage,
  ...repeatOf(head)
})
