import { assert, describe, it } from "@effect/vitest"
import { canonicalPieces, jsonPieces } from "../../src/domain/jsonPieces.ts"

const long = "The lamp turns. ".repeat(100_000)
const mark = "\uE0000"

/** Large values with all that could be taken for something else. */
const values: ReadonlyArray<readonly [what: string, value: object]> = [
  ["one text", { model: "m", prompt: long }],
  ["many texts", { texts: Array.from({ length: 1000 }, (_, index) => `${index} `.repeat(300)) }],
  ["quotes and backslashes", { a: '"\\'.repeat(300_000), b: `${long}\n\u0001` }],
  ["pairs that may be cut in two", { a: "🗼".repeat(600_000), b: `x${"🗼".repeat(600_000)}` }],
  ["halves of pairs", { a: "\ud83d".repeat(300_000) }],
  ["marks for texts", { a: mark, b: `"${mark}"`, c: long, d: [`"${mark}`, mark] }],
  ["marks for names", { [mark]: 1, [`"${mark}`]: long, [`a"${mark}"`]: mark }],
  ["values of every kind", { a: [null, true, 1.5, "", {}, []], b: undefined, c: long }],
  ["a name of the prototype", JSON.parse(`{"__proto__":{"a":"${long}"}}`)]
]

describe("JSON in pieces", () => {
  it.each(values)("is the JSON of the whole: %s", (_, value) => {
    const json = jsonPieces(value)
    assert.isNotString(json)
    const pieces = [...json]
    // The halves of a pair may be escaped, so texts are compared by what they say.
    assert.deepStrictEqual(JSON.parse(pieces.join("")), JSON.parse(JSON.stringify(value)))
    for (const piece of pieces) assert.isBelow(piece.length, 8 * 1024 * 1024)
  })

  it("is one text for what is not large", () => {
    const value = { model: "m", prompt: "x".repeat(200_000) }
    assert.strictEqual(jsonPieces(value), JSON.stringify(value))
  })

  it("depends on no order of fields where it is canonical", () => {
    for (const text of ["short", long]) {
      const one = [...canonicalPieces({ a: 1, b: { c: text, d: [2, { f: 3, e: 4 }] } })]
      const other = [...canonicalPieces({ b: { d: [2, { e: 4, f: 3 }], c: text }, a: 1 })]
      assert.deepStrictEqual(one, other)
      assert.strictEqual(one.join(""), `{"a":1,"b":{"c":"${text}","d":[2,{"e":4,"f":3}]}}`)
    }
  })
})
