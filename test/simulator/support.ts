import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Simulator } from "../../src/simulator/Simulator.ts"

interface Options {
  readonly body?: unknown
  /** The whole header; null sends none. */
  readonly authorization?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Not those of tasks, which stand after `task_id` and in the addresses of files. */
const requestIds = /(?<!task_id":"|\/)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Sends over a real socket; request ids in the answer's text are replaced by `RID`. */
export const send = Effect.fnUntraced(function* (
  method: string,
  path: string,
  { authorization = "Bearer key-of-the-test", body, headers = {}, signal }: Options = {}
) {
  const { url } = yield* Simulator
  return yield* Effect.promise(async () => {
    const response = await fetch(path.startsWith("http") ? path : `${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(authorization === null ? {} : { authorization }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal })
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = new TextDecoder().decode(bytes).replaceAll(requestIds, "RID")
    return { status: response.status, headers: response.headers, bytes, text }
  })
})

/** Whether sending ended without any answer. */
export const unanswered = (path: string, body: unknown, signal?: AbortSignal) =>
  send("POST", path, { body, ...(signal === undefined ? {} : { signal }) }).pipe(
    Effect.as(false),
    Effect.catchDefect(() => Effect.succeed(true))
  )

/** An answer's JSON as `schema` reads it; keys the schema does not name are left out. */
export const read = <A, I>(schema: Schema.Codec<A, I>, { text }: { readonly text: string }): A =>
  Schema.decodeUnknownSync(Schema.fromJsonString(schema))(text)

export const json = ({ text }: { readonly text: string }) => read(Schema.Json, { text })

export const booked = Effect.flatMap(Simulator, ({ book }) => book)

/** The order of a task as it was accepted. */
export const orderedAs = Effect.fnUntraced(function* (id: string) {
  for (const entry of yield* booked) {
    if (entry.event === "accepted" && entry.upstream_id === id) return entry
  }
  return assert.fail(`${id} is not booked`)
})
