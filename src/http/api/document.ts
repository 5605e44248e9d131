/** What the OpenAPI document says beyond the schemas: words for operations, and named examples. */
import { OpenApi } from "effect/http-api"

interface Example {
  readonly summary: string
  readonly value: Readonly<Record<string, unknown>>
}

export type Examples = Readonly<Record<string, Example>>

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The same document with one more field at the path; a path that does not exist changes nothing. */
const withField = (
  document: Record<string, unknown>,
  path: ReadonlyArray<string>,
  field: Readonly<Record<string, unknown>>
): Record<string, unknown> => {
  const [key, ...rest] = path
  if (key === undefined) return { ...document, ...field }
  const inner = document[key]
  return isRecord(inner) ? { ...document, [key]: withField(inner, rest, field) } : document
}

/** A summary of a few words, a description, and examples of the body by name. */
export const operation = (summary: string, description: string, examples?: Examples) =>
  OpenApi.annotations({
    summary,
    description,
    ...(examples === undefined
      ? {}
      : {
          transform: (document) =>
            withField(document, ["requestBody", "content", "application/json"], { examples })
        })
  })

const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(
    ([key, inner]) =>
      (key !== "additionalProperties" || inner !== false) && key !== "x-effect-stream"
  )
  return Object.fromEntries(entries.map(([key, inner]) => [key, opened(inner)]))
}

/**
 * Objects may gain fields, and clients that were made from this document must not break by it. Only
 * what an operator sends and reads stays closed: an unknown field in its bodies is an error.
 */
export const openObjects = (document: Record<string, unknown>): Record<string, unknown> => {
  const paths = isRecord(document.paths) ? document.paths : {}
  return {
    ...document,
    components: opened(document.components),
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [
        path,
        path.startsWith("/admin/") ? item : opened(item)
      ])
    )
  }
}
