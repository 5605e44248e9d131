/** Clients who repeat an order under its idempotency key until it is done. */
import { assert } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import type { GatewayNode } from "./cluster.ts"
import { bodyAs } from "./gateway.ts"
import { call } from "./http.ts"

export const CLIENTS = 6

const Task = Schema.Struct({ id: Schema.String, task_status: Schema.String })

/** Sends a request until it is answered with 200, as a client does under an idempotency key. */
const insist = (request: ReturnType<typeof call>) => {
  let last = "none"
  return request.pipe(
    Effect.tap(({ status, text }) =>
      Effect.sync(() => {
        last = `${status} ${text}`
      })
    ),
    Effect.delay("50 millis"),
    Effect.repeat({ until: ({ status }) => status === 200 }),
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.die(new Error(`not done in 60 s; the last answer is ${last}`))
    })
  )
}

/**
 * Clients who order an image or a video each time, with one key after the other, wait for it, and
 * repeat what failed.
 */
export const startClients = Effect.fnUntraced(function* (
  { url }: GatewayNode,
  keys: ReadonlyArray<string>,
  prefix = "order"
) {
  const done = new Set<string>()
  let isStopping = false
  const client = Effect.fnUntraced(function* (index: number) {
    for (let turn = 0; !isStopping; turn++) {
      const name = `${prefix}-${index}-${turn}`
      const key = keys[(index + turn * CLIENTS) % keys.length] ?? ""
      const headers = { "idempotency-key": name }
      if (index % 2 === 0) {
        const json = { model: "paint-1", prompt: "x", size: "16x16" }
        yield* insist(call(`${url}/v1/images/generations`, { key, headers, json }))
      } else {
        const json = { model: "film-1", prompt: "x" }
        const created = yield* insist(call(`${url}/v1/videos/generations`, { key, headers, json }))
        let task = yield* bodyAs(Task, created)
        while (task.task_status === "processing") {
          task = yield* bodyAs(Task, yield* insist(call(`${url}/v1/videos/${task.id}`, { key })))
        }
        assert.strictEqual(task.task_status, "succeeded")
      }
      done.add(name)
    }
  })
  const running = yield* Effect.forkChild(
    Effect.forEach(Array.from({ length: CLIENTS }).keys(), client, {
      concurrency: "unbounded",
      discard: true
    })
  )
  return {
    done,
    more: (count: number) => {
      const wanted = done.size + count
      return Effect.sync(() => done.size >= wanted).pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (isEnough) => isEnough }),
        Effect.raceFirst(Effect.andThen(Fiber.join(running), Effect.never)),
        Effect.timeout("5 minutes")
      )
    },
    stop: Effect.suspend(() => {
      isStopping = true
      return Fiber.join(running)
    })
  }
})
