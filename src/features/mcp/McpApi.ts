/** The HTTP API of the tools of agents: one endpoint of the Model Context Protocol. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { anyFields } from "../../domain/requestFields.ts"
import { bodyErrors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { BodyLimit, DecodesBody, RequiredScope } from "../../http/api/middlewares.ts"
import { constant, text } from "../../http/api/shared.ts"
import { allScopes } from "../../services/Access.ts"

const jsonrpc = constant("2.0", "Always `2.0`")
const id = Schema.optionalKey(
  Schema.Union([Schema.String, Schema.Number, Schema.Null]).annotate({
    description: "The id of the request; absent in a notification"
  })
)

const Message = Schema.StructWithRest(
  Schema.Struct({
    jsonrpc,
    id,
    method: text("The method, such as `tools/list`, `tools/call` or `tasks/get`", "tools/list"),
    params: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Unknown).annotate({
        description: "The parameters, with `_meta` of the protocol's revision"
      })
    )
  }),
  anyFields
).annotate({ identifier: "McpMessage", description: "A JSON-RPC message" })

const Answer = Schema.StructWithRest(
  Schema.Struct({
    jsonrpc,
    id,
    result: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Unknown).annotate({
        description: "The result; an error of a tool is a result with `isError`"
      })
    ),
    error: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Unknown).annotate({
        description: "The error of the protocol, with `code` and `message`"
      })
    )
  }),
  anyFields
).annotate({ identifier: "McpAnswer", description: "A JSON-RPC answer" })

/** Every key may call the endpoint; each tool requires a scope of its own. */
export class McpGroup extends HttpApiGroup.make("mcp").add(
  HttpApiEndpoint.post("message", "/mcp", {
    payload: Message,
    success: [
      Answer,
      HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      HttpApiSchema.Accepted
    ],
    error: [...bodyErrors]
  })
    .annotate(RequiredScope, allScopes)
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Call a tool",
        "The Model Context Protocol over streamable HTTP, revision 2026-07-28 with the extension `io.modelcontextprotocol/tasks`; " +
          "clients of earlier revisions are served without a session. An order tool needs `max_cost` or the `quote_id` of `get_quote`, and charges at most that."
      )
    )
) {}
