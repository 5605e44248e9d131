/** The right form of every video protocol's answers: to the order, and to questions about its task. */
import { type Json, type Mark, mediumOf, usageOf } from "./answerParts.ts"
import { type AnswerPlan, otherModels, type Plan } from "./plans.ts"

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
  "relay d": { working: "processing", done: "succeed", failed: "failed" },
  // A failed job of fal is completed as well, and has an error.
  fal: { working: "IN_PROGRESS", done: "COMPLETED", failed: "COMPLETED" },
  replicate: { working: "processing", done: "succeeded", failed: "failed" },
  minimax: { working: "running", done: "succeeded", failed: "failed" },
  veo: { working: "running", done: "done", failed: "done" }
}

const otherFamilies: ReadonlyMap<string, string> = new Map(
  otherModels.map(({ model, protocol }) => [model, protocol])
)

/** The family whose answers a model's vendor gives. */
export const familyOf = (model: string): string => {
  const other = otherFamilies.get(model)
  if (other !== undefined) return other
  if (model === "relay-d") return "relay d"
  if (/^(?:film|relay)-[ab]$/.test(model)) return "a"
  if (model.endsWith("-d")) return "d"
  return model.endsWith("-e") ? "e" : "f"
}

const operationOf = (id: unknown): unknown =>
  typeof id === "string" ? `models/veo-3.1-generate-preview/operations/${id}` : id

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
    case "fal":
      return { request_id: id, status: "IN_QUEUE" }
    case "replicate":
      return { id, status: "starting" }
    case "veo":
      return { name: operationOf(id) }
    case "minimax":
      return { task_id: id, base_resp: { status_code: 0, status_msg: "success" } }
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
  /** Whether the vendor is asked for what the task has made, after its status. */
  readonly isResult: boolean
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
  veo: ({ id, status, isFailed, url }) => ({
    name: operationOf(id),
    done: status === "done",
    ...(isFailed ? { error: { code: 13, message: why, status: "INTERNAL" } } : {}),
    ...(url === undefined
      ? {}
      : { response: { generateVideoResponse: { generatedSamples: [{ video: { uri: url } }] } } })
  }),
  fal: ({ id, status, isFailed, isResult, url }, { kind }) => {
    if (!isResult) return { request_id: id, status, ...(isFailed ? { error: why } : {}) }
    if (isFailed) return { detail: [{ loc: ["body"], msg: why, type: "content_policy_violation" }] }
    if (url === undefined) return { request_id: id, status }
    return kind === "image" ? { images: [{ url }] } : { video: { url } }
  },
  replicate: ({ id, status, isFailed, url }) => ({
    id,
    status,
    output: url ?? null,
    error: isFailed ? why : null
  }),
  minimax: ({ id, status, isFailed, url }) => ({
    task: {
      id,
      status,
      ...(url === undefined ? {} : { content: { url } }),
      ...(isFailed ? { error: { code: "InternalError", message: why } } : {})
    }
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

/** The answer to a question about a task, in any of its states, at the path of the request. */
export const polled = (
  plan: AnswerPlan,
  mark: Mark,
  order: Plan,
  id: unknown,
  path: string
): Json => {
  const family = familyOf(order.model)
  const state = stateOf(plan)
  // A task that failed may show what it made all the same.
  const hasUrl = state === "done" || plan.shape === "failed beside"
  const task = {
    id,
    status: statusNames[family]?.[state],
    isFailed: state === "failed",
    isResult: family === "fal" && !path.endsWith("/status"),
    url: hasUrl ? mediumOf(plan, mark, 0, "mp4") : undefined,
    usage: usageOf(plan, 108_900)
  }
  return pollForms[family]?.(task, order) ?? {}
}
