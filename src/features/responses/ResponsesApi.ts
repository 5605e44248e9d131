/** The HTTP API of responses: text in the form of OpenAI's Responses API. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { anyFields } from "../../domain/requestFields.ts"
import { ResponsesBody } from "../../domain/responses/ResponsesRequest.ts"
import { errors, orderErrors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { BodyLimit, DecodesBody, LookUp, RequiredScope } from "../../http/api/middlewares.ts"
import {
  constant,
  flag,
  idempotencyHeader,
  integer,
  listWithEnds,
  oneOf,
  pageQuery,
  streamEvent,
  text
} from "../../http/api/shared.ts"

const Usage = Schema.StructWithRest(
  Schema.Struct({
    input_tokens: integer("Input tokens, as the vendor counted them", 12),
    output_tokens: integer("Output tokens, as the vendor counted them", 34),
    total_tokens: integer("Both together", 46)
  }),
  anyFields
)

const ResponseView = Schema.StructWithRest(
  Schema.Struct({
    id: text("The response's id", "resp_019ac0de00007000a0000000000000aa"),
    object: constant("response", "Always `response`"),
    created_at: integer("When it was ordered, in seconds since 1970"),
    status: oneOf(
      ["completed", "incomplete", "failed", "in_progress"],
      "How it ended; `incomplete` at `max_output_tokens` or a filter",
      "completed"
    ),
    model: text("The ordered model", "talk-1"),
    output: Schema.Array(Schema.Unknown).annotate({
      description:
        "Items of type message, reasoning, function_call or custom_tool_call, in their order"
    }),
    usage: Schema.NullOr(Usage).annotate({ description: "Null where the vendor counted nothing" })
  }),
  anyFields
).annotate({ identifier: "Response", description: "A response, with the fields of the standard" })

const Event = streamEvent({
  id: "Not used",
  event: "The event's type, such as `response.output_text.delta`",
  data: "The event as JSON, with its type and its number"
})

const responseId = { id: text("The response's id") }

export class ResponsesGroup extends HttpApiGroup.make("responses")
  .add(
    HttpApiEndpoint.post("create", "/responses", {
      headers: idempotencyHeader,
      payload: ResponsesBody,
      success: [ResponseView, HttpApiSchema.StreamSse({ events: Event })],
      error: orderErrors
    })
      .annotate(BodyLimit, "media")
      .annotate(DecodesBody, true)
      .annotateMerge(
        operation(
          "Have a response written",
          "Asks a model of modality chat or vlm in the form of OpenAI's Responses API. A vendor whose " +
            "protocol is openai_responses gets the request as it is; for any other it is translated to a " +
            "chat, and what a chat cannot say is refused by its field. Price, hold and charge are those of " +
            "chats. Tools are the client's own; a stream's last event follows when the charge is in the books."
        )
      ),
    HttpApiEndpoint.get("read", "/responses/:id", {
      params: responseId,
      query: {
        stream: Schema.optionalKey(
          oneOf(["true", "false"], "`true` answers with the events of the response")
        ),
        starting_after: Schema.optionalKey(
          text(
            "Refused: a stored response has its texts in one piece, so its events have other numbers"
          )
        )
      },
      success: [ResponseView, HttpApiSchema.StreamSse({ events: Event })],
      error: [errors.NotFound, errors.InvalidRequest]
    })
      .annotate(LookUp, true)
      .annotateMerge(
        operation(
          "Read a response",
          "One that was ordered with `store`, for GATEWAY_RESPONSE_HOURS, whole or as the events of its stream."
        )
      ),
    HttpApiEndpoint.get("items", "/responses/:id/input_items", {
      params: responseId,
      query: {
        ...pageQuery,
        order: oneOf(
          ["desc", "asc"],
          "The last item first, or the first; `desc` when left out"
        ).pipe(Schema.withDecodingDefaultKey(Effect.succeed("desc" as const)))
      },
      success: listWithEnds(
        Schema.StructWithRest(Schema.Struct({ id: text("The item's id") }), anyFields)
      ),
      error: [errors.NotFound, errors.InvalidRequest]
    }).annotateMerge(
      operation(
        "List a response's input",
        "The items that were new in its request, the last first unless `order` says otherwise."
      )
    ),
    HttpApiEndpoint.delete("remove", "/responses/:id", {
      params: responseId,
      success: Schema.Struct({
        id: text("The response's id"),
        object: constant("response", "Always `response`"),
        deleted: flag("Whether it was deleted")
      }).annotate({ identifier: "DeletedResponse" }),
      error: errors.NotFound
    }).annotateMerge(
      operation("Delete a response", "It can be neither read nor continued from now on.")
    )
  )
  .annotateEndpoints(RequiredScope, "chat") {}
