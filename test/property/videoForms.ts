/** The right form of every video protocol's answers: to the order, and to questions about its task. */
import { type Json, type Mark, mediumOf, usageOf } from "./answerParts.ts"
import type { AnswerPlan, Plan } from "./plans.ts"

const jobIds = {
  plain: (text: string) => `job-${text}`,
  dot: () => ".",
  dots: () => "..",
  slash: (text: string) => `../job/${text}`,
  control: (text: string) => `job\r\n${text}\u0000`,
  long: (text: string) => `${text}${"j".repeat(10_000)}`,
  number: () => 8601,
  empty: () => "",
  null: () => null,
  unicode: (text: string) => `作业-${text}-\u202e`
} as const satisfies Record<AnswerPlan["id"], (text: string) => unknown>

/** As the vendor names the job. */
export const jobIdOf = ({ id }: AnswerPlan, { text }: Mark): unknown => jobIds[id](text)

type State = "working" | "done" | "failed"

const statusNames: Readonly<Record<string, Readonly<Record<State, string>>>> = {
  a: { working: "running", done: "succeeded", failed: "failed" },
  d: { working: "processing", done: "succeeded", failed: "failed" },
  e: { working: "processing", done: "success", failed: "failed" },
  f: { working: "RUNNING", done: "SUCCEEDED", failed: "FAILED" },
  "relay d": { working: "processing", done: "succeed", failed: "failed" }
}

/** The family whose answers a model's vendor gives. */
export const familyOf = (model: string): string => {
  if (model === "relay-d") return "relay d"
  if (/^(?:film|relay)-[ab]$/.test(model)) return "a"
  if (model.endsWith("-d")) return "d"
  return model.endsWith("-e") ? "e" : "f"
}

export const submitted = (plan: AnswerPlan, mark: Mark, { model }: Plan): Json => {
  const id = jobIdOf(plan, mark)
  switch (familyOf(model)) {
    case "a":
      return model === "film-b" ? { task_id: id, status: "queued", request_id: "r" } : { id }
    case "relay d":
      return { code: 0, message: "SUCCEED", data: { task_id: id, task_status: "submitted" } }
    case "d":
      return { code: 0, message: "SUCCEED", data: { id, status: "submitted" } }
    case "e":
      return { task_id: id, state: "created", credits: 20 }
    default:
      return { output: { task_id: id, task_status: "PENDING" }, request_id: "r" }
  }
}

const stateOf = ({ shape }: AnswerPlan): State => {
  if (shape === "processing" || shape === "task") return "working"
  return shape === "failed" || shape === "failed beside" ? "failed" : "done"
}

const why = "The job failed inside the vendor"

/** What an answer about a task tells of it. */
interface Task {
  readonly id: unknown
  /** The state, in the vendor's own name for it. */
  readonly status: string | undefined
  readonly isFailed: boolean
  /** Undefined where the task shows no film. */
  readonly url: unknown
  readonly usage: unknown
}

const pollForms: Readonly<Record<string, (task: Task, order: Plan) => Json>> = {
  a: ({ id, status, isFailed, url, usage }) => ({
    id,
    task_id: id,
    status,
    ...(url === undefined ? {} : { content: { video_url: url } }),
    ...(usage === undefined ? {} : { usage }),
    error: isFailed ? { code: "InternalError", message: why } : null
  }),
  "relay d": ({ id, status, url }) => {
    const result = url === undefined ? {} : { task_result: { videos: [{ id: "v", url }] } }
    return { code: 0, data: { task_id: id, task_status: status, task_status_msg: why, ...result } }
  },
  d: ({ id, status, url }) => {
    const outputs = url === undefined ? {} : { outputs: [{ type: "video", url }] }
    return { code: 0, data: [{ id, status, message: why, ...outputs }] }
  },
  e: ({ id, status, isFailed, url }) => ({
    id,
    state: status,
    err_code: isFailed ? "Bad" : "",
    creations: [{ url }]
  }),
  f: ({ id, status, isFailed, url }, { kind }) => {
    const results = kind === "image" ? { results: [{ url }] } : { video_url: url }
    return {
      output: {
        task_id: id,
        task_status: status,
        ...(url === undefined ? {} : results),
        ...(isFailed ? { code: "InternalError", message: why } : {})
      },
      request_id: "r"
    }
  }
}

/** The answer to a question about a task, in any of its states. */
export const polled = (plan: AnswerPlan, mark: Mark, order: Plan, id: unknown): Json => {
  const family = familyOf(order.model)
  const state = stateOf(plan)
  // A task that failed may show what it made all the same.
  const hasUrl = state === "done" || plan.shape === "failed beside"
  const task = {
    id,
    status: statusNames[family]?.[state],
    isFailed: state === "failed",
    url: hasUrl ? mediumOf(plan, mark, 0, "mp4") : undefined,
    usage: usageOf(plan, 108_900)
  }
  return pollForms[family]?.(task, order) ?? {}
}
