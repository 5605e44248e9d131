/** Completes the OpenAPI document beyond the declarations of its groups. */
import { Predicate } from "effect"
import { webhookDocument } from "../features/webhooks/webhookDocument.ts"

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

export const openObjects = (document: Record<string, unknown>): Record<string, unknown> => ({
  ...document,
  components: withOpenObjects(document.components),
  paths: withOpenObjects(document.paths),
  webhooks: webhookDocument
})
