/** The HTTP API of messages: text in the form of Anthropic's Messages API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { MessagesBody } from "../../domain/messages/MessagesRequest.ts"
import { anyFields } from "../../domain/requestFields.ts"
import { orderErrors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import {
  BodyLimit,
  DecodesBody,
  RequiredScope,
  TakesKeyHeader
} from "../../http/api/middlewares.ts"
import {
  constant,
  idempotencyHeader,
  integer,
  nullable,
  oneOf,
  streamEvent,
  text
} from "../../http/api/shared.ts"

const Usage = Schema.StructWithRest(
  Schema.Struct({
    input_tokens: integer("Input tokens without the cached ones, as the vendor counted them", 12),
    cache_creation_input_tokens: integer("Always 0: writing a cache has no price of its own", 0),
    cache_read_input_tokens: integer("Cached input tokens, as the vendor counted them", 0),
    output_tokens: integer("Output tokens, as the vendor counted them", 34)
  }),
  anyFields
)

const stopReasons = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"] as const

const MessageView = Schema.StructWithRest(
  Schema.Struct({
    id: text("The message's id", "msg_019ac0de00007000a0000000000000aa"),
    type: constant("message", "Always `message`"),
    role: constant("assistant", "Always `assistant`"),
    model: text("The ordered model", "talk-1"),
    content: Schema.Array(Schema.Unknown).annotate({
      description: "Blocks of type text, tool_use or thinking, in their order"
    }),
    stop_reason: nullable(
      oneOf(stopReasons, "Why it ended"),
      "Why it ended; null where the vendor failed while it wrote"
    ),
    stop_sequence: nullable(Schema.String, "The text at which it ended, where the vendor says so"),
    usage: Usage.annotate({ description: "The tokens by which the order is charged" })
  }),
  anyFields
).annotate({ identifier: "Message", description: "A message, with the fields of the standard" })

const Event = streamEvent({
  id: "Not used",
  event: "The event's type, such as `content_block_delta`",
  data: "The event as JSON, with its type"
})

export class MessagesGroup extends HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.post("create", "/messages", {
      headers: idempotencyHeader,
      payload: MessagesBody,
      success: [MessageView, HttpApiSchema.StreamSse({ events: Event })],
      error: orderErrors
    })
      .annotate(BodyLimit, "media")
      .annotate(DecodesBody, true)
      .annotate(TakesKeyHeader, true)
      .annotateMerge(
        operation(
          "Have a message written",
          "Asks a model of modality chat or vlm in the form of Anthropic's Messages API, which is " +
            "translated to a chat; what a chat cannot say is refused by its field. Price, hold and " +
            "charge are those of chats. The key may stand in `x-api-key`. With the header " +
            "`anthropic-version`, errors have the form of that API, with the fields of this one " +
            "beside. A stream's last event follows when the charge is in the books."
        )
      )
  )
  .annotateEndpoints(RequiredScope, "chat") {}
