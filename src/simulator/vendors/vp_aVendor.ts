import { Effect, Option, Schema } from "effect"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { numberFrom, randomText } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { clipSize } from "../media/clip.ts"
import { placeOrder } from "../placing.ts"
import { framesPerSecond, Resolution, renderedRatio } from "../rendering.ts"
import { Tasks } from "../Tasks.ts"
import { type Call, type Desk, decodeBody, keyOf, type Vendor } from "../Vendor.ts"
import { textOf } from "./contentBlocks.ts"
import {
  badKey,
  draftOf,
  lifecycle,
  ofFault,
  orderFault,
  orderFields,
  pollAnswer,
  refuseWith,
  sensitiveInput
} from "./contentTasks.ts"

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Submit = Schema.Struct({
  ...orderFields,
  resolution: Schema.optionalKey(Resolution),
  seed: Schema.optionalKey(between(-1, 4294967295)),
  camera_fixed: Schema.optionalKey(Schema.Boolean),
  watermark: Schema.optionalKey(Schema.Boolean),
  return_last_frame: Schema.optionalKey(Schema.Boolean),
  draft: Schema.optionalKey(Schema.Boolean),
  service_tier: Schema.optionalKey(Schema.Literals(["default", "flex"])),
  callback_url: Schema.optionalKey(Schema.String),
  execution_expires_after: Schema.optionalKey(between(3600, 259200))
})

/** Fields of the order that the poll repeats. */
const Echo = Schema.Struct({
  seed: Schema.Int,
  service_tier: Schema.String,
  execution_expires_after: Schema.Int,
  draft: Schema.Boolean,
  return_last_frame: Schema.Boolean
})

const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const rendered = Effect.fnUntraced(function* (accepted: AcceptedEntry, ended: EndedEntry) {
  const links = yield* MediaLinks
  const { order } = accepted
  const echo: Partial<typeof Echo.Type> = Option.getOrElse(
    Schema.decodeUnknownOption(Echo)(accepted.echo),
    () => ({})
  )
  const { return_last_frame = false, ...echoed } = echo
  const lastFrame = links.image(accepted, 0, clipSize)
  return {
    content: {
      video_url: links.video(ended),
      ...(return_last_frame ? { last_frame_url: lastFrame } : {})
    },
    ...echoed,
    resolution: order.resolution,
    ratio: renderedRatio(accepted),
    duration: ended.produced.seconds,
    framespersecond: framesPerSecond,
    generate_audio: order.generate_audio
  }
})

const newId = (nowMillis: number): string => {
  const stamp = new Date(nowMillis).toISOString().replace(/\D/g, "").slice(0, 14)
  return `cgt-${stamp}-${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 5)}`
}

/** The calls of the protocol at a desk. */
export const callsAt = (desk: Desk) => ({
  submit: Effect.fnUntraced(function* (call: Call) {
    const order = yield* decodeSubmit(call.body)
    const fault = orderFault(order)
    if (fault !== undefined) return yield* fault
    const seed =
      order.seed === undefined || order.seed === -1
        ? numberFrom(textOf(order.content), 1e9)
        : order.seed
    return yield* placeOrder(
      desk,
      call,
      {
        ...draftOf(order, order.resolution ?? "720p"),
        echo: {
          seed,
          service_tier: order.service_tier ?? "default",
          execution_expires_after: order.execution_expires_after ?? 172800,
          draft: order.draft ?? false,
          return_last_frame: order.return_last_frame ?? false
        },
        newId
      },
      ({ upstream_id }) => Effect.succeed({ id: upstream_id })
    )
  }),
  poll: Effect.fnUntraced(function* (call: Call) {
    const tasks = yield* Tasks
    const sighting = yield* tasks.poll(desk, call.params.id ?? "", lifecycle)
    return yield* pollAnswer(desk, sighting, { idField: "id", rendered })
  })
})

const desk: Desk = {
  protocol: "vp_a",
  refuse: refuseWith("RateLimitExceeded.EndpointRPMExceeded"),
  moderatedInput: sensitiveInput
}
const { submit, poll } = callsAt(desk)

const tasksPaths = ["/api/v3/contents/generations/tasks", "/v1/contents/generations/tasks"] as const

/** The task interface with content blocks and token usage. */
export const vp_a: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: tasksPaths.flatMap((path) => [
    { method: "POST" as const, path, handle: submit },
    { method: "GET" as const, path: `${path}/:id` as const, handle: poll }
  ])
}
