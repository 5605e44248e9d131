/** The answers of tools: structured content with a text beside it, links, files and errors. */
import type { CallToolResult, ContentBlock, ToolAnnotations } from "@modelcontextprotocol/server"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { GatewayError } from "../../domain/Errors.ts"
import type { CurrentCaller } from "../../http/api/middlewares.ts"
import { errorBody } from "../../http/server/errorResponse.ts"
import type { Scope } from "../../services/Access.ts"
import type { Json, ObjectSchema } from "./toolSchemas.ts"

/** What a tool needs of the request that calls it. */
export type RequestServices = HttpServerRequest.HttpServerRequest | CurrentCaller

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  /** Scopes of keys, of which one is enough. */
  readonly scopes: ReadonlyArray<Scope>
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  /** With `supportsTasks`, the result may be a task in place of the result of the tool. */
  readonly run: (
    args: Json,
    supportsTasks: boolean
  ) => Effect.Effect<CallToolResult, GatewayError, RequestServices>
}

/** The annotations of tools that change nothing. */
export const readOnlyHints = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }

const textBlock = (text: string): ContentBlock => ({ type: "text", text })

/** Encodes the answer of a tool by its schema. A text with the same JSON is beside it. */
export const answerWith = <S extends Schema.Top & { readonly EncodingServices: never }>(
  schema: S
) => {
  const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(schema))
  return (
    value: S["Type"],
    more: { readonly content?: ReadonlyArray<ContentBlock>; readonly isError?: boolean } = {}
  ): Effect.Effect<CallToolResult> =>
    Effect.map(Effect.orDie(encode(value)), (structured) => ({
      structuredContent: Object(structured),
      content: [textBlock(JSON.stringify(structured)), ...(more.content ?? [])],
      ...(more.isError === true ? { isError: true } : {})
    }))
}

/** The result of a tool that was refused or failed: the body that a route would answer. */
export const errorAnswer = (error: GatewayError): CallToolResult => {
  const body = errorBody(error)
  return {
    isError: true,
    structuredContent: { ...body },
    content: [textBlock(JSON.stringify(body))]
  }
}
