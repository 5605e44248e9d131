/** Hides the keys, passwords and long texts of administrative writes from the audit log. */
import { Predicate } from "effect"
import { storable } from "../domain/plainText.ts"

const secretFields: ReadonlySet<string> = new Set([
  "api_key",
  "app_id",
  "key",
  "secret",
  "token",
  "password"
])

const MAX_TEXT = 200
const MAX_ITEMS = 50

/** The part of a text that the audit stores. */
export const auditedText = (text: string): string => storable(text.slice(0, MAX_TEXT))

/** The stored form of a value: lists of objects and long lists are replaced by their length. */
const auditedValue = (value: unknown): unknown => {
  if (typeof value === "string") return auditedText(value)
  if (!Predicate.isObjectOrArray(value)) return value
  if (!Array.isArray(value)) return "[object]"
  return value.length > MAX_ITEMS || value.some(Predicate.isObjectOrArray)
    ? `[${value.length} items]`
    : value.map(auditedValue)
}

/**
 * The fields of a body that the audit stores: those that the endpoint knows and that contain no
 * secret. Any other field may contain a secret under a mistyped name.
 */
export const auditedFields = (endpointFields: ReadonlySet<PropertyKey>, body: unknown): unknown =>
  Predicate.isObject(body)
    ? Object.fromEntries(
        Object.entries(body)
          .filter(([name]) => endpointFields.has(name) && !secretFields.has(name))
          .map(([name, value]) => [name, auditedValue(value)])
      )
    : null
