import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Result, Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { ReferenceApi } from "../../src/contract/ReferenceApi.ts"
import { sectionFields } from "../../src/contract/reference/sections.ts"
import { errorTable } from "../../src/domain/Errors.ts"
import { imageProtocols } from "../../src/domain/image/ImageProtocol.ts"
import { videoProtocols } from "../../src/domain/video/VideoProtocol.ts"

const document = OpenApi.fromApi(ReferenceApi)
const parts = sectionFields["x-tagGroups"]

const isCodec = (schema: Schema.Top): schema is Schema.Codec<unknown> => Schema.isSchema(schema)
const decode = (schema: Schema.Codec<unknown>) =>
  Schema.decodeUnknownResult(Schema.toCodecJson(schema))

const decodeBodies = Schema.decodeUnknownSync(
  Schema.Struct({
    requestBody: Schema.optionalKey(
      Schema.Struct({
        content: Schema.Record(
          Schema.String,
          Schema.Struct({
            examples: Schema.Record(
              Schema.String,
              Schema.Struct({ summary: Schema.String, value: Schema.Unknown })
            ).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
          })
        )
      })
    )
  })
)

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

  it("has every operation in a section, and every section in one part", () => {
    const used = new Set(operations.flatMap(({ operation }) => operation.tags))
    const inParts = parts.flatMap(({ tags }) => tags)
    assert.deepEqual(
      document.tags.map(({ name }) => name),
      inParts
    )
    assert.deepEqual(
      [...used].toSorted(),
      [...new Set(inParts)].toSorted(),
      "sections of operations"
    )
    assert.strictEqual(inParts.length, used.size)
    assert.deepEqual(
      document.tags.filter(({ description = "" }) => !description.endsWith(".")),
      []
    )
  })

  it("has operators' operations in the operators' part alone", () => {
    const partOf = ({ tags }: Json) =>
      parts.find((part) => part.tags.some((tag) => Array.isArray(tags) && tags.includes(tag)))?.name
    for (const { name, operation } of operations) {
      const [, path = ""] = name.split(" ")
      const expected =
        path.startsWith("/v1/") || path === "/mcp"
          ? "For developers"
          : path.startsWith("/admin/v1/")
            ? "For operators"
            : path.startsWith("/auth/")
              ? "For browsers"
              : "Operations"
      assert.strictEqual(partOf(operation), expected, name)
    }
  })

  it("gives an example of every JSON body, each of which is a valid body", () => {
    const operationsById = new Map(
      operations.map(({ operation }) => [String(operation.operationId), operation])
    )
    const lacking: Array<string> = []
    HttpApi.reflect(ReferenceApi, {
      onGroup: () => undefined,
      onEndpoint: ({ group, endpoint, mergedAnnotations }) => {
        const id = `${group.identifier}.${endpoint.identifier}`
        const { requestBody } = decodeBodies(operationsById.get(id))
        const json = requestBody?.content["application/json"]
        if (json === undefined) return
        const examples = Object.values(json.examples)
        if (examples.length === 0) lacking.push(id)
        const schemas = [...endpoint.payload.values()].flatMap((payload) => payload.schemas)
        const parseOptions = Context.getOrUndefined(mergedAnnotations, HttpApi.PayloadParseOptions)
        const decodes = examples.map(({ value }) =>
          schemas
            .filter(isCodec)
            .some((schema) => Result.isSuccess(decode(schema)(value, parseOptions)))
        )
        assert.notInclude(decodes, false, id)
      }
    })
    assert.deepEqual(lacking, [])
  })

  it("gives an example per protocol", () => {
    const create = operations.find(({ operation }) => operation.operationId === "videos.create")
    const generate = operations.find(({ operation }) => operation.operationId === "images.generate")
    const namesOf = (operation: unknown) =>
      Object.keys(decodeBodies(operation).requestBody?.content["application/json"]?.examples ?? {})
    assert.includeMembers(namesOf(create?.operation), Object.keys(videoProtocols))
    assert.includeMembers(namesOf(generate?.operation), Object.keys(imageProtocols))
  })

  it("has an entry of every code", () => {
    const { description = "" } = document.info
    const headings = [...description.matchAll(/^## (\w+)$/gm)].map(([, code]) => code)
    assert.deepEqual(headings, Object.keys(errorTable))
  })

  it("is of version 3.1", () => {
    assert.strictEqual(document.openapi, "3.1.0")
    assert.isTrue(HttpApi.isHttpApi(ReferenceApi))
  })
})
