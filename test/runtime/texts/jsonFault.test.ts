import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { findJsonFault } from "../../../src/runtime/texts/jsonFault.ts"

const string = "the rest of a string, whose line breaks and backslashes are escaped,"

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const Piece = Schema.Literals([
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  "\\",
  " ",
  "\n",
  "x",
  '"a"',
  '"a":',
  "-1.5e3",
  "01",
  "true",
  "null",
  "\\t",
  "\\u00e9",
  "\\q",
  "\u0001"
])

describe("the fault of a text that is no JSON", () => {
  it.each([
    ["", 1, 1, "a value"],
    ["{", 1, 2, "a field name in double quotes or }"],
    ['{"name":', 1, 9, "a value"],
    ["{'name': 1}", 1, 2, "a field name in double quotes or }"],
    ['{"a": 1,}', 1, 9, "a field name in double quotes"],
    ['{"a" 1}', 1, 6, "a colon"],
    ['{"a": 1 "b": 2}', 1, 9, "a comma or }"],
    ["[1 2]", 1, 4, "a comma or ]"],
    ["[1,]", 1, 4, "a value"],
    ["[1}", 1, 3, "a comma or ]"],
    ["{} {}", 1, 4, "the end"],
    ['{\n  "a": x\n}', 2, 8, "a value"],
    ['\n\n["a\nb"]', 3, 4, string],
    ['["\\q"]', 1, 3, string],
    ['["a', 1, 4, string]
  ] as const)(
    "%j is at line %i, column %i, where %s is expected",
    (text, line, column, expected) => {
      assert.deepStrictEqual(findJsonFault(text), { line, column, expected })
    }
  )

  it.prop(
    "is found in JSON that was cut or extended, and not in JSON",
    [Schema.Json],
    ([value]) => {
      const text = JSON.stringify(value, null, 2)
      assert.isNull(findJsonFault(text))
      for (const broken of [text.slice(0, -1), text.slice(1), `${text},`]) {
        assert.strictEqual(findJsonFault(broken) === null, isJson(broken), broken)
      }
    }
  )

  it.prop("is found in any order of tokens", [Schema.Array(Piece)], ([pieces]) => {
    const text = pieces.join("")
    assert.strictEqual(findJsonFault(text) === null, isJson(text), text)
  })
})
