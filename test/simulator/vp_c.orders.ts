/** Orders of the families of vp_c, and where their tasks are polled. */
import { Effect, Schema } from "effect"
import { read, send } from "./support.ts"

export const submitA = "/vp_c/doubao/v1/videos/generations/submit"
export const pollA = "/vp_c/doubao/v1/videos/generations"
export const textD = "/vp_c/kling/v1/videos/text2video"
export const imageD = "/vp_c/kling/v1/videos/image2video"
export const submitE = "/vp_c/vidu/ent/v2/text2video"
export const pollE = (id: string) => `/vp_c/vidu/ent/v2/tasks/${id}/creations`
export const submitF = "/vp_c/qwen/api/v1/services/aigc/video-generation/generation"
export const pollF = "/vp_c/qwen/api/v1/tasks/video"

export const orderA = (prompt: string, more: object = {}) => ({
  model: "m-1",
  prompt,
  content: [{ type: "text", text: prompt }],
  duration: 5,
  resolution: "720p",
  ...more
})
export const orderD = (prompt: string, more: object = {}) => ({
  model_name: "m-1",
  prompt,
  ...more
})
export const orderE = (prompt: string, more: object = {}) => ({ model: "m-3", prompt, ...more })
export const orderF = (prompt: string, more: object = {}) => ({
  model: "wan2.6-t2v-cn",
  input: { prompt },
  parameters: { size: "1280*720", duration: 5 },
  ...more
})

export const IdA = Schema.Struct({ id: Schema.String })
export const IdD = Schema.Struct({ data: Schema.Struct({ task_id: Schema.String }) })
const IdE = Schema.Struct({ task_id: Schema.String })
const IdF = Schema.Struct({ output: Schema.Struct({ task_id: Schema.String }) })

/** Places an order with a family; gives the address its task is polled at. */
export const place = Effect.fnUntraced(function* (family: "a" | "d" | "e" | "f", words: string) {
  switch (family) {
    case "a":
      return `${pollA}/${read(IdA, yield* send("POST", submitA, { body: orderA(words) })).id}`
    case "d": {
      const answer = yield* send("POST", textD, { body: orderD(words) })
      return `${textD}/${read(IdD, answer).data.task_id}`
    }
    case "e":
      return pollE(read(IdE, yield* send("POST", submitE, { body: orderE(words) })).task_id)
    case "f": {
      const answer = yield* send("POST", submitF, { body: orderF(words) })
      return `${pollF}/${read(IdF, answer).output.task_id}`
    }
  }
})

const statusIn = (text: string) => /"(?:state|status|task_status)":"(\w+)"/.exec(text)?.[1] ?? ""

export const pollTimes = (address: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () =>
    Effect.map(send("GET", address), ({ status, text }) =>
      status === 200 ? statusIn(text) : status
    )
  )
