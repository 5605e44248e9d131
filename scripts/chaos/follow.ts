/** What a client does with its task: it reads the task until its end, and may cancel it. */
import { Clock, Effect, Random, Schema } from "effect"
import { type Answer, bodyOf, ConnectionLost, send } from "./http.ts"
import type { CancelAnswer, Order, Witness } from "./witness.ts"

/** A task that a client was answered with. */
export interface OrderedTask {
  readonly order: Order
  readonly taskId: string
}

/** The gateway that gets the next request. */
type AnyGateway = Effect.Effect<{ readonly url: string }>

const Code = Schema.Struct({ code: Schema.String })
const readError = bodyOf(Schema.Struct({ error: Code }))
const readTask = bodyOf(
  Schema.Struct({
    task_status: Schema.Literals(["processing", "succeeded", "failed"]),
    content: Schema.optionalKey(Schema.Struct({ video_url: Schema.String })),
    error: Schema.optionalKey(Code),
    cancellation: Schema.optionalKey(
      Schema.Struct({ status: Schema.Literals(["requested", "refused", "unknown"]) })
    )
  })
)

const urlOf = (gateway: { readonly url: string }, { order, taskId }: OrderedTask): string =>
  `${gateway.url}/v1/${order.kind === "video" ? "videos" : "images"}/${taskId}`

const lookOnce = Effect.fnUntraced(function* (
  witness: Witness,
  anyGateway: AnyGateway,
  task: OrderedTask,
  waitSeconds: number
) {
  const gateway = yield* anyGateway
  const startedAt = yield* Clock.currentTimeMillis
  const answer = yield* send(`${urlOf(gateway, task)}?wait=${waitSeconds}`, {
    key: task.order.customer.key
  })
  const shown = readTask(answer)
  const said = shown?.task_status ?? readError(answer)?.error.code
  if (said === undefined) return yield* new ConnectionLost({ message: "no answer of ours" })
  witness.sightings.push({
    ...task,
    startedAt,
    endedAt: yield* Clock.currentTimeMillis,
    status: answer.status,
    said,
    videoUrl: shown?.content?.video_url ?? null
  })
  return said
})

/** Reads the task up to `polls` times, until it has ended. */
export const followTask = Effect.fnUntraced(function* (
  witness: Witness,
  anyGateway: AnyGateway,
  task: OrderedTask,
  polls: number
) {
  for (let asked = 0; asked < polls; asked++) {
    const wait = yield* Random.nextIntBetween(0, 3)
    const said = yield* lookOnce(witness, anyGateway, task, wait).pipe(
      Effect.catchTag("ConnectionLost", () => Effect.succeed("nothing"))
    )
    if (said === "succeeded" || said === "failed") return
    yield* Effect.sleep(`${yield* Random.nextIntBetween(100, 600)} millis`)
  }
})

const cancelAnswerOf = (answer: Answer): CancelAnswer => {
  const task = readTask(answer)
  if (task === null) {
    return { _tag: "Unanswered", code: readError(answer)?.error.code ?? "no answer of ours" }
  }
  if (task.task_status === "processing") {
    return task.cancellation === undefined
      ? { _tag: "Unanswered", code: "goes on without a reason" }
      : { _tag: "GoesOn", status: task.cancellation.status }
  }
  return { _tag: "Ended", state: task.task_status, code: task.error?.code ?? null }
}

/** Sends one request to cancel the task. */
export const cancelTask = Effect.fnUntraced(function* (
  witness: Witness,
  anyGateway: AnyGateway,
  task: OrderedTask
) {
  const gateway = yield* anyGateway
  const startedAt = yield* Clock.currentTimeMillis
  const answer = yield* send(`${urlOf(gateway, task)}/cancel`, {
    key: task.order.customer.key,
    method: "POST"
  }).pipe(
    Effect.map(cancelAnswerOf),
    Effect.catchTag("ConnectionLost", () =>
      Effect.succeed<CancelAnswer>({ _tag: "Unanswered", code: "connection lost" })
    )
  )
  witness.cancels.push({ ...task, startedAt, endedAt: yield* Clock.currentTimeMillis, answer })
})
