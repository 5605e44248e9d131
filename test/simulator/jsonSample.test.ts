import { assert, describe, it } from "@effect/vitest"
import { z } from "zod"
import { jsonSample } from "../../src/simulator/jsonSample.ts"

const Node = z.object({
  name: z.string(),
  get children() {
    return z.array(Node).min(1).max(3).nullable()
  }
})

const ofZod: ReadonlyArray<readonly [name: string, schema: z.ZodType]> = [
  ["formats", z.object({ a: z.email(), b: z.uuid(), c: z.iso.datetime(), d: z.iso.date() })],
  ["more formats", z.tuple([z.url(), z.ipv4(), z.ipv6(), z.iso.time()])],
  ["patterns", z.string().regex(/^[A-Z]{2}-\d+(?:\.\d{2})?$/)],
  ["a pattern with bounds", z.string().regex(/^\w+$/).min(9).max(10)],
  ["lengths", z.object({ a: z.string().min(30), b: z.string().max(2), c: z.string().length(7) })],
  ["whole numbers", z.array(z.int().min(3).max(5)).length(4)],
  ["exclusive bounds", z.tuple([z.number().gt(0).lt(0.1), z.int().lt(-7), z.number().gt(1e6)])],
  ["multiples", z.tuple([z.number().multipleOf(0.1).min(0.05), z.int().multipleOf(7).min(50)])],
  ["literals", z.tuple([z.literal("x"), z.literal([1, 2]), z.enum(["a", "b"]), z.null()])],
  ["options", z.object({ a: z.string().optional(), b: z.boolean().nullable() }).strict()],
  ["records", z.record(z.string(), z.number())],
  ["unions", z.union([z.array(z.never()).min(1), z.object({ kind: z.literal("b") }).strict()])],
  [
    "tagged unions",
    z.discriminatedUnion("t", [
      z.strictObject({ t: z.literal("a"), v: z.number() }),
      z.strictObject({ t: z.literal("b") })
    ])
  ],
  ["intersections", z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() }))],
  ["recursion", Node]
]

const raw = [
  {
    $ref: "#/$defs/a",
    $defs: { a: { type: "array", items: { $ref: "#/$defs/b" } }, b: { enum: [1, 2] } }
  },
  {
    allOf: [
      { type: "number", minimum: 3 },
      { type: "integer", maximum: 3 }
    ]
  },
  {
    type: "object",
    properties: { a: { type: ["null", "integer"] }, b: { required: ["c"], properties: { c: {} } } },
    required: ["a", "b"]
  },
  { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 3, uniqueItems: true },
  { type: "object", additionalProperties: { type: "integer" }, minProperties: 2 }
] as const

describe("JSON for a JSON schema", () => {
  it.each(ofZod)("satisfies %s", (_, schema) => {
    const json = z.json().parse(z.toJSONSchema(schema))
    for (const seed of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
      const sample = jsonSample(json, seed)
      assert.isDefined(sample)
      assert.strictEqual(schema.safeParse(sample).error?.message, undefined, JSON.stringify(sample))
      assert.deepStrictEqual(jsonSample(json, seed), sample)
    }
  })

  it.each(raw.map((schema) => [schema]))("satisfies %j", (schema) => {
    const validator = z.fromJSONSchema(z.record(z.string(), z.json()).parse(schema))
    for (const seed of ["a", "b", "c", "d"]) {
      const sample = jsonSample(z.json().parse(schema), seed)
      assert.strictEqual(
        validator.safeParse(sample).error?.message,
        undefined,
        JSON.stringify(sample)
      )
    }
    const { uniqueItems } = { uniqueItems: false, ...schema }
    const sample = jsonSample(z.json().parse(schema), "a")
    if (uniqueItems) assert.strictEqual(new Set(z.array(z.json()).parse(sample)).size, 3)
  })

  it.each([
    [false],
    [{ $ref: "#" }],
    [{ $ref: "#/$defs/none" }],
    [{ type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
    [{ allOf: [{ type: "string" }, { type: "integer" }] }],
    [{ type: "integer", minimum: 5, maximum: 4 }],
    [{ type: "string", pattern: "^(?!a)a$" }],
    [{ type: "string", pattern: "^(" }],
    [{ type: "string", pattern: "^((a{9999}){9999}){9999}$" }],
    [{ type: "array", minItems: 1e9, items: {} }],
    [{ type: "array", minItems: 3, uniqueItems: true, items: { type: "boolean" } }],
    [{ not: { type: "string" } }],
    [{ type: "poem" }]
  ])("is none for %j", (schema) => {
    assert.isUndefined(jsonSample(schema, "a"))
  })
})
