/** Completes the OpenAPI document beyond the declarations of its groups. */
import { Predicate, Record } from "effect"
import type { OpenApi } from "effect/http-api"
import { webhookDocument } from "../../features/webhooks/webhookDocument.ts"
import { examples } from "./examples.ts"
import { sectionFields, sectionOf } from "./sections.ts"

type Json = Readonly<Record<string, unknown>>

const JSON_TYPE = "application/json"

/**
 * Removes `additionalProperties: false`, as objects may gain fields, which must not break clients
 * that were generated from this document. Operators' paths keep it, as an unknown field in an
 * operator's body is an error.
 */
const withOpenObjects = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withOpenObjects)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "additionalProperties" || inner !== false)
      .filter(([key]) => key !== "x-effect-stream")
      .map(([key, inner]) => [key, key.startsWith("/admin/") ? inner : withOpenObjects(inner)])
  )
}

const examplesById = new Map<string, Json>(Object.entries(examples))

/** The operation with its section as its tag, and with named examples of its JSON body. */
const withReference = (operation: OpenApi.OpenAPISpecOperation): Json => {
  const { operationId, requestBody } = operation
  const tags = [sectionOf(operationId)]
  const ofBody = examplesById.get(operationId)
  if (requestBody === undefined || ofBody === undefined) return { ...operation, tags }
  const { [JSON_TYPE]: body, ...otherTypes } = requestBody.content
  const content = { [JSON_TYPE]: { ...body, examples: ofBody }, ...otherTypes }
  return { ...operation, tags, requestBody: { ...requestBody, content } }
}

const isOperation = (value: unknown): value is OpenApi.OpenAPISpecOperation =>
  Predicate.hasProperty(value, "operationId")

const pathsWithReference = Record.map((item: OpenApi.OpenAPISpecPathItem) =>
  Object.fromEntries(
    Object.entries(item).map(([method, value]: readonly [string, unknown]) => [
      method,
      isOperation(value) ? withReference(value) : value
    ])
  )
)

export const completeDocument = (document: OpenApi.OpenAPISpec): Json => ({
  ...document,
  ...sectionFields,
  components: withOpenObjects(document.components),
  paths: withOpenObjects(pathsWithReference(document.paths)),
  webhooks: webhookDocument
})
