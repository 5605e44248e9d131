import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { GatewayApi } from "../../src/contract/GatewayApi.ts"
import { errorTable } from "../../src/domain/Errors.ts"
import { ImageBody } from "../../src/domain/image/ImageRequest.ts"
import { VideoBody } from "../../src/domain/video/VideoBody.ts"
import { imageExamples, videoExamples } from "../../src/http/api/document.ts"

const document = OpenApi.fromApi(GatewayApi)

type Json = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, value]) => {
    const operation: unknown = value
    return isRecord(operation) ? [{ name: `${method.toUpperCase()} ${path}`, operation }] : []
  })
)

/** The schema itself, or what it refers to. */
const resolved = (schema: Json): Json => {
  const reference = schema.$ref
  if (typeof reference !== "string") return schema
  const target: unknown = document.components.schemas[reference.split("/").at(-1) ?? ""]
  return isRecord(target) ? target : {}
}

/** A description of its own, of what it refers to, or of the one schema it wraps. */
const isDescribed = (schema: Json): boolean => {
  const own = resolved(schema)
  if (typeof schema.description === "string" || typeof own.description === "string") return true
  // Text that holds JSON is described by what it holds.
  if (own.contentMediaType === "application/json") {
    return isRecord(own.contentSchema) && isDescribed(own.contentSchema)
  }
  const { allOf, anyOf } = own
  const parts = Array.isArray(allOf) ? allOf : Array.isArray(anyOf) ? anyOf : []
  return parts.filter(isRecord).some((part) => part.type !== "null" && isDescribed(part))
}

const undescribed = (value: unknown, at: string): ReadonlyArray<string> => {
  if (Array.isArray(value))
    return value.flatMap((item, index) => undescribed(item, `${at}[${index}]`))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "example" || key === "examples") return []
    if (key !== "properties" || !isRecord(inner)) return undescribed(inner, `${at}.${key}`)
    return Object.entries(inner).flatMap(([field, schema]) => [
      ...(isRecord(schema) && !isDescribed(schema) ? [`${at}.${field}`] : []),
      ...undescribed(schema, `${at}.${field}`)
    ])
  })
}

describe("the OpenAPI document", () => {
  it("is the one that is checked in; `npm run openapi` writes it again", () => {
    const checkedIn = readFileSync(join(import.meta.dirname, "openapi.json"), "utf8")
    assert.deepEqual(JSON.parse(checkedIn), JSON.parse(JSON.stringify(document)))
  })

  it("describes every field", () => {
    assert.deepEqual(undescribed(document.components.schemas, "components"), [])
    assert.deepEqual(undescribed(document.paths, "paths"), [])
  })

  it("says of every operation what it does", () => {
    const silent = operations.filter(
      ({ operation }) =>
        typeof operation.summary !== "string" || typeof operation.description !== "string"
    )
    assert.deepEqual(
      silent.map(({ name }) => name),
      []
    )
  })

  it("describes every parameter", () => {
    const silent = operations.flatMap(({ name, operation }) =>
      (Array.isArray(operation.parameters) ? operation.parameters : [])
        .filter(isRecord)
        .filter(
          (parameter) =>
            typeof parameter.description !== "string" &&
            !(isRecord(parameter.schema) && isDescribed(parameter.schema))
        )
        .map((parameter) => `${name} ${String(parameter.name)}`)
    )
    assert.deepEqual(silent, [])
  })

  it("describes the answer of every code", () => {
    // Answered outside of the routes: no operation can have it.
    const codes = Object.keys(errorTable).filter((code) => code !== "method_not_allowed")
    const text = JSON.stringify(document)
    assert.deepEqual(
      codes.filter((code) => !text.includes(`"#/components/schemas/error_${code}"`)),
      []
    )
  })

  it("gives an example per protocol, each of which is a valid body", () => {
    assert.includeMembers(Object.keys(videoExamples), [
      "vp_a",
      "vp_b",
      "vp_c",
      "vp_d",
      "vp_e",
      "vp_f"
    ])
    assert.includeMembers(Object.keys(imageExamples), ["ip_a", "ip_b", "ip_c"])
    for (const { value } of Object.values(videoExamples)) {
      Schema.decodeUnknownSync(VideoBody)(value)
    }
    for (const { value } of Object.values(imageExamples)) {
      Schema.decodeUnknownSync(ImageBody)(value)
    }
    const text = JSON.stringify(document.paths["/v1/videos/generations"])
    assert.isTrue(text.includes(JSON.stringify(videoExamples.vp_a)))
  })

  it("is of version 3.1", () => {
    assert.strictEqual(document.openapi, "3.1.0")
    assert.isTrue(HttpApi.isHttpApi(GatewayApi))
  })
})
