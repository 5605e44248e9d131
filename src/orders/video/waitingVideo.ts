/**
 * An order of a video that waits for a place at its channel, as it is stored until any gateway
 * submits it. It is encrypted, because it has the prompt.
 */
import { Effect, Redacted, Schema } from "effect"
import type { OpenaiOptions } from "../../domain/video/OpenaiVideoBody.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import type { Caller } from "../../services/Access.ts"

const WaitingVideo = Schema.fromJsonString(
  Schema.Struct({
    caller: Schema.Struct({
      organizationId: Schema.String,
      memberId: Schema.String,
      keyId: Schema.String,
      models: Schema.NullOr(Schema.Array(Schema.String)),
      watermark: Schema.NullOr(Schema.Boolean),
      priceList: Schema.NullOr(Schema.String)
    }),
    body: VideoBody,
    /** The options of an order in OpenAI's form. */
    options: Schema.optionalKey(
      Schema.Struct({
        seconds: Schema.NullOr(Schema.Union([Schema.Finite, Schema.String])),
        size: Schema.NullOr(Schema.String)
      })
    ),
    /** The summary of the order as it was held, with which the submitted order must agree. */
    summary: Schema.Unknown
  })
)

const encode = Schema.encodeSync(WaitingVideo)
const decode = Schema.decodeUnknownEffect(WaitingVideo)

export interface WaitingVideo {
  readonly caller: Caller
  readonly body: VideoBody
  /** Null for an order in the gateway's own form. */
  readonly options: OpenaiOptions | null
  readonly summary: unknown
}

export const encodeWaitingVideo = ({
  caller,
  body,
  options,
  summary
}: WaitingVideo): Redacted.Redacted =>
  Redacted.make(
    encode({
      caller: {
        organizationId: caller.organizationId,
        memberId: caller.memberId,
        keyId: caller.keyId,
        models: caller.models === null ? null : [...caller.models],
        watermark: caller.watermark ?? null,
        priceList: caller.priceList ?? null
      },
      body,
      ...(options === null ? {} : { options: { seconds: options.seconds, size: options.size } }),
      summary
    })
  )

export const decodeWaitingVideo = (stored: Redacted.Redacted) =>
  Effect.map(
    decode(Redacted.value(stored)),
    ({ caller, body, options = null, summary }): WaitingVideo => ({
      caller: {
        ...caller,
        scopes: new Set(["videos"]),
        models: caller.models === null ? null : new Set(caller.models)
      },
      body,
      options,
      summary
    })
  )
