import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { VideoBody } from "../../domain/VideoRequest.ts"
import { Authorization, RequiredScope } from "./Authorization.ts"
import { BodyLimit, RequestRules } from "./RequestRules.ts"
import { idempotencyHeader, wholeNumber } from "./shared.ts"

export const Accepted = Schema.Struct({
  id: Schema.String,
  task_status: Schema.Literal("processing")
})

export const VideoTaskView = Schema.Union([
  Accepted,
  Schema.Struct({
    id: Schema.String,
    task_status: Schema.Literal("succeeded"),
    content: Schema.Struct({ video_url: Schema.String }),
    /** `completion_tokens` when the upstream reported it. */
    usage: Schema.Struct({ completion_tokens: Schema.optionalKey(Schema.Int) })
  }),
  Schema.Struct({
    id: Schema.String,
    task_status: Schema.Literal("failed"),
    error: Schema.Struct({ code: Schema.String, message: Schema.String })
  })
])

/** The present state at once, then the end, after which the stream ends. */
const VideoTaskEvent = Schema.Struct({
  id: Schema.String.annotate({
    description: "`1` while the task runs, `2` for its end; the same on every gateway",
    examples: ["1"]
  }),
  event: Schema.Literals(["video.processing", "video.succeeded", "video.failed"]).annotate({
    description: "The state that was reached",
    examples: ["video.processing"]
  }),
  data: Schema.fromJsonString(VideoTaskView).annotate({
    description: "What `GET /v1/videos/{task_id}` answers, as JSON",
    examples: [{ id: "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e", task_status: "processing" }]
  })
})

export const MAX_WAIT_SECONDS = 60

export class VideosGroup extends HttpApiGroup.make("videos")
  .add(
    HttpApiEndpoint.post("create", "/videos/generations", {
      headers: idempotencyHeader,
      payload: VideoBody,
      success: Accepted
    })
      .annotate(RequiredScope, "videos")
      .annotate(BodyLimit, "media"),
    HttpApiEndpoint.get("read", "/videos/:task_id", {
      params: { task_id: Schema.String },
      query: {
        /** Seconds to hold the answer back until the task ends. */
        wait: wholeNumber(0, MAX_WAIT_SECONDS).pipe(
          Schema.withDecodingDefaultKey(Effect.succeed("0"))
        )
      },
      success: VideoTaskView
    }).annotate(RequiredScope, "videos"),
    HttpApiEndpoint.get("events", "/videos/:task_id/events", {
      params: { task_id: Schema.String },
      headers: {
        "last-event-id": Schema.optionalKey(Schema.String).annotate({
          description:
            "Id of the last event that was seen: it is not repeated, and after the end the answer is 204. What no gateway has given out is ignored",
          examples: ["1"]
        })
      },
      success: HttpApiSchema.StreamSse({ events: VideoTaskEvent })
    }).annotate(RequiredScope, "videos")
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
