/**
 * What recorded streams of the Responses API have: the order of events, and the names and JSON
 * types of fields. No text of a recording is here.
 *
 * 68 numbered streams of OpenAI and Azure, as others published them, show the fields:
 * - `vercel/ai`, 37 streams in `packages/openai/src/responses/__fixtures__`,
 *   `packages/azure/src/__fixtures__` and `packages/open-responses/src/responses/__fixtures__`.
 * - `pydantic/pydantic-ai`, 29 streams in `tests/models/cassettes` (`test_openai_responses`,
 *   `test_openai`) and `tests/cassettes` (`test_tool_search`, `test_vercel_ai`).
 * - `simonw/llm-openai-plugin`, 2 streams in `tests/cassettes/test_openai`.
 *
 * The orders, by their names in `recordedOrders`:
 * - `text`: `azure-text.1`; with log probabilities
 *   `test_openai_instructions_with_responses_logprobs_streaming`, with links
 *   `test_openai_include_raw_annotations_streaming`, of a schema `test_async_model_schema`, which has
 *   no numbers yet.
 * - `functionCall`: `azure-tool-call.1`.
 * - `summaryAndCall`, with encrypted reasoning: `openai-reasoning-encrypted-content.1`.
 * - `summaryAndText`: `test_openai_responses_thinking_part_iter`, whose summary has four parts; the
 *   gateway writes one.
 * - `hiddenReasoningAndText`: `test_tools` of `llm-openai-plugin`.
 * - `failed`: `openai-error.1`.
 * - `incomplete`: a stream within `openai-responses-language-model.test.ts` of `vercel/ai`, shortened
 *   by its authors, without numbers.
 * - `customCall`: `openai-custom-text-tool.1`, shortened by its authors by the event that ends the
 *   input. This one is from xAI: `packages/xai/src/responses/__fixtures__`, `xai-x-search-tool`.
 * - `reasoningTextAndText`: not of OpenAI, but of LM Studio (`lmstudio-tool-call.1` of `vercel/ai`)
 *   and OpenRouter (`test_openai_responses_raw_cot_stream_openrouter` of `pydantic-ai`).
 * - `refusal`: in no recording. The fields are those of the examples in OpenAI's OpenAPI document
 *   (`openai/openai-openapi`, `openapi.yaml`), the order is that of a text.
 *
 * Left out: events of tools that a vendor runs (searches, code, MCP, pictures, shells, patches),
 * audio, `response.queued` of responses in the background, several messages in one response
 * (`openai-phase.1`), and calls in parallel, which no recording has.
 */

/** The events of one item, with repeated types as one. */
const itemEvents = {
  message: [
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done"
  ],
  refusal: [
    "response.output_item.added",
    "response.content_part.added",
    "response.refusal.delta",
    "response.refusal.done",
    "response.content_part.done",
    "response.output_item.done"
  ],
  functionCall: [
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done"
  ],
  customCall: [
    "response.output_item.added",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.output_item.done"
  ],
  summary: [
    "response.output_item.added",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "response.output_item.done"
  ],
  reasoningText: [
    "response.output_item.added",
    "response.content_part.added",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "response.content_part.done",
    "response.output_item.done"
  ],
  hiddenReasoning: ["response.output_item.added", "response.output_item.done"]
} as const

const beginning = ["response.created", "response.in_progress"] as const

/** The types of the events of each kind of response, with repeated types as one. */
export const recordedOrders = {
  text: [...beginning, ...itemEvents.message, "response.completed"],
  refusal: [...beginning, ...itemEvents.refusal, "response.completed"],
  functionCall: [...beginning, ...itemEvents.functionCall, "response.completed"],
  customCall: [...beginning, ...itemEvents.customCall, "response.completed"],
  summaryAndText: [
    ...beginning,
    ...itemEvents.summary,
    ...itemEvents.message,
    "response.completed"
  ],
  summaryAndCall: [
    ...beginning,
    ...itemEvents.summary,
    ...itemEvents.functionCall,
    "response.completed"
  ],
  reasoningTextAndText: [
    ...beginning,
    ...itemEvents.reasoningText,
    ...itemEvents.message,
    "response.completed"
  ],
  hiddenReasoningAndText: [
    ...beginning,
    ...itemEvents.hiddenReasoning,
    ...itemEvents.message,
    "response.completed"
  ],
  incomplete: [...beginning, ...itemEvents.message, "response.incomplete"],
  failed: [...beginning, "error", "response.failed"]
} as const

/**
 * The fields of one kind of object, as `name:type`, or `name?:type` where some recordings lack it. A
 * field may have several types.
 */
type Shape = string

const place = "item_id:string output_index:number sequence_number:number type:string"
const inPart = `content_index:number ${place}`
const inSummary = `summary_index:number ${place}`
/** Left out of pieces on demand, by `stream_options.include_obfuscation`. */
const piece = "delta:string obfuscation?:string"
const ofResponse = "response:object sequence_number:number type:string"
const ofItem = "item:object output_index:number sequence_number:number type:string"

export const eventShapes: Readonly<Record<string, Shape>> = {
  "response.created": ofResponse,
  "response.in_progress": ofResponse,
  "response.completed": ofResponse,
  "response.incomplete": ofResponse,
  "response.failed": ofResponse,
  error: "error:object sequence_number:number type:string",
  "response.output_item.added": ofItem,
  "response.output_item.done": ofItem,
  "response.content_part.added": `part:object ${inPart}`,
  "response.content_part.done": `part:object ${inPart}`,
  "response.output_text.delta": `${piece} logprobs:array ${inPart}`,
  "response.output_text.done": `text:string logprobs:array ${inPart}`,
  "response.output_text.annotation.added": `annotation:object annotation_index:number ${inPart}`,
  "response.refusal.delta": `${piece} ${inPart}`,
  "response.refusal.done": `refusal:string ${inPart}`,
  "response.reasoning_text.delta": `${piece} ${inPart}`,
  "response.reasoning_text.done": `text:string ${inPart}`,
  "response.reasoning_summary_part.added": `part:object ${inSummary}`,
  "response.reasoning_summary_part.done": `part:object ${inSummary}`,
  "response.reasoning_summary_text.delta": `${piece} ${inSummary}`,
  "response.reasoning_summary_text.done": `text:string ${inSummary}`,
  "response.function_call_arguments.delta": `${piece} ${place}`,
  "response.function_call_arguments.done": `arguments:string ${place}`,
  "response.custom_tool_call_input.delta": `${piece} ${place}`,
  "response.custom_tool_call_input.done": `input:string ${place}`
}

export const itemShapes: Readonly<Record<string, Shape>> = {
  message: "content:array id:string phase?:string role:string status:string type:string",
  function_call: `arguments:string call_id:string caller?:object id:string name:string
    namespace?:string status:string type:string`,
  custom_tool_call: "call_id:string id:string input:string name:string status:string type:string",
  reasoning: `content?:array encrypted_content?:string id:string status?:string summary:array
    type:string`
}

export const partShapes: Readonly<Record<string, Shape>> = {
  output_text: "annotations:array logprobs:array text:string type:string",
  refusal: "refusal:string type:string",
  reasoning_text: "text:string type:string",
  summary_text: "text:string type:string"
}

export const annotationShapes: Readonly<Record<string, Shape>> = {
  url_citation: "end_index:number start_index:number title:string type:string url:string"
}

const everyResponse = `background:boolean content_filters?:array|null conversation?:object
  created_at:number frequency_penalty?:number id:string instructions:string|null
  max_output_tokens:number|null max_tool_calls:null metadata:object model:string
  moderation?:object|null object:string output:array parallel_tool_calls:boolean
  presence_penalty?:number previous_response_id:null prompt_cache_key:null
  prompt_cache_retention?:string|null reasoning:object safety_identifier:null service_tier:string
  status:string store:boolean temperature:number text:object tool_choice:string tool_usage?:object
  tools:array top_logprobs:number top_p:number truncation:string user:null`

/** The fields of items and parts that are empty in the event that adds the item or the part. */
export const emptyWhenAdded = [
  "annotations",
  "arguments",
  "content",
  "input",
  "logprobs",
  "refusal",
  "summary",
  "text"
] as const

/** The shapes of a response, by its status. */
export const responseShapes: Readonly<Record<string, Shape>> = {
  in_progress: `completed_at?:null error:null incomplete_details:null usage:null ${everyResponse}`,
  completed: `completed_at?:number error:null incomplete_details:null usage:object ${everyResponse}`,
  incomplete: `completed_at?:null error:null incomplete_details:object usage:object ${everyResponse}`,
  failed: `completed_at?:null error:object incomplete_details:null usage:null ${everyResponse}`
}

/** The shapes of objects in a response and in pieces of its text, by the field that has them. */
export const fieldShapes: Readonly<Record<string, Shape>> = {
  error: "code:string message:string",
  incomplete_details: "reason:string",
  reasoning: "context?:string|null effort:string|null mode?:string summary:string|null",
  usage: `input_tokens:number input_tokens_details:object output_tokens:number
    output_tokens_details:object total_tokens:number`,
  input_tokens_details: "cache_write_tokens?:number cached_tokens:number",
  output_tokens_details: "reasoning_tokens:number",
  text: "format:object verbosity:string",
  logprobs: "bytes:array logprob:number token:string top_logprobs:array"
}

/** The shapes of what repeats a request's tools and format, by type. */
export const repeatShapes: Readonly<Record<string, Shape>> = {
  text: "type:string",
  json_schema: "description:null name:string schema:object strict:boolean type:string",
  function: `allowed_callers?:array defer_loading?:boolean description:string|null name:string
    output_schema?:object|null parameters:object strict:boolean type:string`,
  custom: "description:string format:object name:string type:string"
}

/**
 * Where the gateway differs from the recordings, each with the reason. The paths are those of
 * `differencesOf`.
 */
export const ownDifferences: ReadonlyMap<string, string> = new Map([
  [
    "response.function_call_arguments.done.name: string, not recorded",
    "OpenAI's OpenAPI document and its Python client require the name."
  ],
  ...["temperature", "top_p"].map(
    (field) =>
      [
        `response.${field}: null, recorded number`,
        "A vendor of chats does not say what it assumes, and the types of `openai` allow null."
      ] as const
  ),
  [
    "tools.function.strict: null, recorded boolean",
    "The gateway does not know what a vendor assumes, and the types of `openai` allow null."
  ]
])

/** Events that are recorded, but that the gateway leaves out, each with the reason. */
export const eventsLeftOut: ReadonlyMap<string, string> = new Map([
  [
    "error",
    "The clients of `openai` throw at it, and would not get the `response.failed` that follows."
  ]
])
