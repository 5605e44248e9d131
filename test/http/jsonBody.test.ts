import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type JsonBytes, parseJson } from "../../src/http/server/jsonBody.ts"
import { walkJson } from "../../src/runtime/texts/jsonWalk.ts"

const free = Number.MAX_SAFE_INTEGER
const bounds = { levels: free, values: free, arrayNumbers: free, otherBytes: free }

/** As a body arrives, in two pieces. */
const bytesOf = (text: string): JsonBytes => {
  const whole = Buffer.from(text)
  const half = whole.length / 2
  const pieces = [whole.subarray(0, half), whole.subarray(half)]
  const walk = walkJson(bounds)
  for (const piece of pieces) walk.push(piece)
  return { pieces, walk }
}

/** Bodies with media are taken apart from this size on. */
const image = "A".repeat(1024 * 1024)
const Medium = Schema.Literals(["B".repeat(2000), "\\/\n".repeat(700), "x".repeat(1025)])
const Name = Schema.Literals(["__proto__", "constructor", "toString", "x", "0"])
const Value = Schema.Union([Medium, Schema.Json, Schema.Array(Medium)])
const Documents = Schema.Array(Schema.Array(Schema.Tuple([Name, Value])))

const objectText = (fields: ReadonlyArray<readonly [string, unknown]>): string =>
  `{${fields.map(([name, value]) => `"${name}":${JSON.stringify(value)}`)}}`

describe("a large body", () => {
  it.effect.prop("says what JSON.parse says", [Documents], ([documents]) =>
    Effect.gen(function* () {
      const text = `["${image}",${documents.map(objectText)}${documents.length === 0 ? 1 : ""}]`
      const body = yield* parseJson(bytesOf(text))
      assert.deepStrictEqual(body, JSON.parse(text))
      assert.strictEqual(JSON.stringify(body), JSON.stringify(JSON.parse(text)))
    })
  )

  it.effect("that is one text says it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* parseJson(bytesOf(`"${image}"`)), image)
    })
  )

  it.effect.each(['"a', '"\\"', '{"a":1', "[", "1]]"])(
    "is refused before it is put together while something in it is open: [...,%s",
    (end) =>
      Effect.gen(function* () {
        const body = bytesOf(`["${image}",${end}`)
        const { message } = yield* Effect.flip(parseJson(body))
        assert.strictEqual(message, "Expected a valid JSON body")
        assert.strictEqual(body.pieces.length, 2)
      })
  )
})
