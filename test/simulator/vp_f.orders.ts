/** Orders of the models of vp_f, and the forms of its answers. */
import { Effect, Schema } from "effect"
import { read, send as sendAny } from "./support.ts"

const path = "/vp_f/api/v1/services/aigc/video-generation/video-synthesis"

export const send = (body: unknown, options: Parameters<typeof sendAny>[2] = {}) =>
  sendAny("POST", path, { body, headers: { "x-dashscope-async": "enable" }, ...options })
export const poll = (id: string) => sendAny("GET", `/vp_f/api/v1/tasks/${id}`)

export const text26 = (prompt: string, parameters: object = {}, input: object = {}) => ({
  model: "wan2.6-t2v",
  input: { prompt, ...input },
  parameters: { size: "1280*720", duration: 5, ...parameters }
})
export const other = (model: string, input: object, parameters: object = {}) => ({
  model,
  input,
  parameters: { duration: 5, ...parameters }
})
export const img_url = "https://x.test/a.png"
export const video = "https://x.test/v.mp4?x=1"
export const items = (...types: ReadonlyArray<string>) =>
  types.map((type) => ({ type, url: img_url }))

export const Submitted = Schema.Struct({
  output: Schema.Struct({ task_id: Schema.String, task_status: Schema.Literal("PENDING") })
})
export const Status = Schema.Struct({ output: Schema.Struct({ task_status: Schema.String }) })
export const Failed = Schema.Struct({
  output: Schema.Struct({
    task_status: Schema.Literal("FAILED"),
    code: Schema.String,
    message: Schema.String
  })
})
export const Failure = Schema.Struct({ code: Schema.String, message: Schema.String })

export const submit = (body: object) =>
  Effect.map(send(body), (answer) => read(Submitted, answer).output.task_id)
