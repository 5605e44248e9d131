import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { VideoBody } from "../../domain/VideoRequest.ts"
import { Authorization, HeldOpen, RequiredScope } from "./Authorization.ts"
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
    })
      .annotate(RequiredScope, "videos")
      .annotate(HeldOpen, "asked")
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
