/** Responses of a vendor that has the Responses API, whole and event by event. */
import { type Json, type Mark, usageOf, wordsOf } from "./answerParts.ts"
import type { AnswerPlan } from "./plans.ts"

/** The tokens in the names of the Responses API; undefined where none are reported. */
const countsOf = (plan: AnswerPlan, output: number): unknown => {
  const usage = usageOf(plan, output)
  if (typeof usage !== "object" || usage === null) return undefined
  const { prompt_tokens, completion_tokens }: Json = { ...usage }
  return { input_tokens: prompt_tokens, output_tokens: completion_tokens }
}

const part = (text: string): Json => ({ type: "output_text", text, annotations: [], logprobs: [] })

const message = (content: ReadonlyArray<Json>): Json => ({
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content
})

/** What the vendor wrote, in the item that the plan names. */
const itemOf = ({ words }: AnswerPlan, text: string): Json => {
  switch (words) {
    case "reasoning":
      return { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text }] }
    case "tool":
      return { id: "fc_1", type: "function_call", call_id: "c1", name: "f", arguments: text }
    case "refusal":
      return message([{ type: "refusal", refusal: text }])
    case "text":
      return { id: "x_1", type: "strange", words: text }
    default:
      return message([part(text)])
  }
}

/** The whole response. Its output is a list, unless the plan says otherwise. */
export const writtenResponse = (plan: AnswerPlan, mark: Mark): Json => {
  const said = wordsOf(plan, mark)
  const text = said.join("")
  const items = said.length === 0 ? [] : [itemOf(plan, text)]
  const usage = countsOf(plan, said.length * 6)
  return {
    id: "resp_1",
    object: "response",
    created_at: 1767225600,
    status: "completed",
    model: "m",
    output: plan.words === "object" ? { 0: items[0] } : plan.words === "outside" ? [] : items,
    ...(plan.words === "outside" ? { output_text: text } : {}),
    ...(usage === undefined ? {} : { usage })
  }
}

const at = { output_index: 0, item_id: "msg_1", content_index: 0 }

/** The event of one word, in the form that the plan names. */
const wordEvent = (plan: AnswerPlan, word: string): Json => {
  switch (plan.words) {
    case "reasoning":
      return { type: "response.reasoning_summary_text.delta", ...at, delta: word }
    case "tool":
      return { type: "response.function_call_arguments.delta", ...at, delta: word }
    case "refusal":
      return { type: "response.refusal.delta", ...at, delta: word }
    case "text":
      return { type: "response.strange", words: word }
    case "message":
      return { type: "response.output_text.done", ...at, text: word }
    case "object":
      return { type: "response.strange.delta", delta: { words: word } }
    case "outside":
      return { delta: word }
    case "response":
      return { choices: [{ index: 0, delta: { content: word } }] }
    default:
      return { type: "response.output_text.delta", ...at, delta: word }
  }
}

/** The events of a streamed response: its words one by one, its item, and its end. */
export const responseEvents = (plan: AnswerPlan, mark: Mark): ReadonlyArray<Json> => {
  const said = wordsOf(plan, mark)
  const response = writtenResponse(plan, mark)
  const { usage, ...uncounted } = response
  const early = plan.usage === "middle" ? { response: { ...uncounted, usage } } : {}
  const end = plan.usage === "middle" || plan.ending === "finish alone" ? uncounted : response
  return [
    ...said.map((word, index) => ({ ...wordEvent(plan, word), ...(index === 0 ? early : {}) })),
    ...(plan.ending === "no finish" ? [] : [{ type: "response.completed", response: end }])
  ]
}
