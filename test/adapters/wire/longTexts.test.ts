/** Outlines of JSON against its decoded whole, cut into pieces at every place. */
import { assert, describe, it } from "@effect/vitest"
import { outlineOf } from "../../../src/adapters/wire/vendorAnswer.ts"
import { markedBytes } from "../../../src/redaction/patterns.ts"

const long = "lighthouse+/=".repeat(200)

const cutAt = (text: string, ...places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const bytes = Buffer.from(text)
  return [...places, bytes.length].map((place, index) =>
    bytes.subarray(places[index - 1] ?? 0, place)
  )
}

/** Marks as texts of their length, so that an outline can be compared with the whole. */
const grown = (value: unknown): unknown => {
  if (typeof value === "string") {
    const bytes = markedBytes(value)
    return bytes === null ? value : long.slice(0, bytes)
  }
  if (Array.isArray(value)) return value.map(grown)
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, grown(inner)]))
    : value
}

const bounds = { levels: 64, values: 10_000, arrayNumbers: 0, otherBytes: 1_000_000 }

describe("an outline of JSON", () => {
  it("says the same as the whole, wherever the pieces were cut", () => {
    const whole = {
      created: 1,
      'a "quoted" \\ name': ["", "\\", 'ends with "', "\\\\", "é\n"],
      data: [{ b64_json: long }, { b64_json: long, revised: "short \\u0041" }, null, true, -1.5]
    }
    const text = JSON.stringify(whole)
    for (let first = 0; first <= Buffer.byteLength(text); first += 1) {
      const outline = outlineOf(cutAt(text, first), bounds)
      assert.isFalse(JSON.stringify(outline).includes(long), `cut at ${first}`)
      assert.deepStrictEqual(grown(outline), whole, `cut at ${first}`)
    }
    const pieces = Array.from({ length: Buffer.byteLength(text) }, (_, index) => index)
    assert.deepStrictEqual(grown(outlineOf(cutAt(text, ...pieces), bounds)), whole)
  })

  it.each([
    ["cut in a long text", `{"a":"${long}`],
    ["cut after it", `{"a":"${long}"`],
    ["two values", `{"a":"${long}"} {}`],
    ["a text without its comma", `{"a":"${long}" "b":1}`],
    ["no JSON at all", `<html>${long}</html>`],
    ["a line end within a long text", `{"a":"${long}\n"}`],
    ["an escape within a long text", `{"a":"${long}\\n"}`],
    ["other than ASCII within a long text", `{"a":"${long}é"}`],
    ["short texts alone", '{"a":"long text of 5 bytes"}'],
    ["bytes that are no UTF-8", `{"a":"${long}"}`, Buffer.from([0xff])]
  ])("there is none of %s", (_, text, more?: Buffer) => {
    const pieces = more === undefined ? cutAt(text, 9) : [...cutAt(text, 9), more]
    assert.isNull(outlineOf(pieces, bounds))
  })

  it("a text that only looks like a mark is none", () => {
    assert.isNull(markedBytes("long text of 5 bytes"))
  })
})
