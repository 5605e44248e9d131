/** The errors that the OpenAPI document lists for an operation. */
import { OpenApi } from "effect/http-api"
import { ReferenceApi } from "../../../src/contract/ReferenceApi.ts"

type Json = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const document = OpenApi.fromApi(ReferenceApi)

/** Literal paths before those with parameters, which may match the same address. */
const templates = Object.keys(document.paths)
  .toSorted((a, b) => Number(a.includes("{")) - Number(b.includes("{")))
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`) }))

const codeRefs = /"#\/components\/schemas\/error_([a-z_]+)"/g

/** Each as `400 invalid_request`; null where there is no such operation. */
export const declaredErrors = (method: string, address: string): ReadonlyArray<string> | null => {
  const [path = ""] = address.split("?")
  const found = templates.find(({ pattern }) => pattern.test(path))
  const item: unknown = found === undefined ? null : document.paths[found.path]
  const operation = isRecord(item) ? item[method.toLowerCase()] : null
  if (!isRecord(operation) || !isRecord(operation.responses)) return null
  return Object.entries(operation.responses).flatMap(([status, response]) =>
    [...JSON.stringify(response).matchAll(codeRefs)].map(([, code = ""]) => `${status} ${code}`)
  )
}
