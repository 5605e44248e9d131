/** What the OpenAPI document has beside what its groups declare. */
import { Predicate } from "effect"
import { webhookDocument } from "../features/webhooks/webhookDocument.ts"

/**
 * Objects may gain fields, and clients that were made from this document must not break by it. Only
 * what an operator sends and reads stays closed: an unknown field in its bodies is an error.
 */
const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "additionalProperties" || inner !== false)
      .filter(([key]) => key !== "x-effect-stream")
      .map(([key, inner]) => [key, key.startsWith("/admin/") ? inner : opened(inner)])
  )
}

export const openObjects = (document: Record<string, unknown>): Record<string, unknown> => ({
  ...document,
  components: opened(document.components),
  paths: opened(document.paths),
  webhooks: webhookDocument
})
