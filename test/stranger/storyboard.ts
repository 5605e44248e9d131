/**
 * Another team's program: it draws the scenes of a story and films it. It knows the gateway by its
 * HTTP interface alone, waits for somebody to pay when the pool is empty, and gives up on anything else.
 */
import { Effect, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

class OrderFailed extends Schema.TaggedError<OrderFailed>()("OrderFailed", {
  code: Schema.String,
  message: Schema.String
}) {}

const Failure = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String })
})
const Drawn = Schema.Struct({ data: Schema.Tuple([Schema.Struct({ url: Schema.String })]) })
const Ordered = Schema.Struct({ id: Schema.String })
const Filmed = Schema.Union([
  Schema.Struct({ task_status: Schema.Literal("processing") }),
  Schema.Struct({
    task_status: Schema.Literal("succeeded"),
    content: Schema.Struct({ video_url: Schema.String })
  }),
  Schema.Struct({ task_status: Schema.Literal("failed"), ...Failure.fields })
])

const ask = Effect.fnUntraced(
  function* <A, I>(schema: Schema.Codec<A, I>, request: HttpClientRequest.HttpClientRequest) {
    const answer = yield* HttpClient.execute(request)
    if (answer.status < 300) return yield* HttpClientResponse.schemaBodyJson(schema)(answer)
    const { error } = yield* HttpClientResponse.schemaBodyJson(Failure)(answer)
    return yield* new OrderFailed(error)
  },
  Effect.catchTag(["HttpClientError", "SchemaError"], Effect.die)
)

/** Asks again every minute until somebody has paid. */
const oncePaid = <A, R>(request: Effect.Effect<A, OrderFailed, R>) =>
  Effect.retry(request, {
    while: ({ code }) => code === "insufficient_balance",
    schedule: Schedule.spaced("1 minute")
  })

const order = <A, I>(schema: Schema.Codec<A, I>, path: string, body: object) =>
  oncePaid(ask(schema, HttpClientRequest.post(path).pipe(HttpClientRequest.bodyJsonUnsafe(body))))

const draw = (scene: string) =>
  Effect.map(
    order(Drawn, "/v1/images/generations", { model: "paint-1", prompt: scene }),
    ({ data: [{ url }] }) => url
  )

const film = Effect.fnUntraced(function* (story: string, images: ReadonlyArray<string>) {
  const body = { model: "film-1", prompt: story, images, duration: 5 }
  const { id } = yield* order(Ordered, "/v1/videos/generations", body)
  return yield* ask(Filmed, HttpClientRequest.get(`/v1/videos/${id}`)).pipe(
    Effect.repeat({
      until: ({ task_status }) => task_status !== "processing",
      schedule: Schedule.spaced("2 seconds")
    })
  )
})

/** Draws each scene, then films the story with the drawings as reference. */
export const makeStoryboard = Effect.fn("makeStoryboard")(function* (
  scenes: ReadonlyArray<string>
) {
  const drawings = yield* Effect.forEach(scenes, draw)
  const filmed = yield* film(scenes.join(", then "), drawings)
  return { drawings, filmed }
})
