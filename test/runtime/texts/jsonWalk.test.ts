import { assert, describe, it } from "@effect/vitest"
import { type JsonBounds, walkJson } from "../../../src/runtime/texts/jsonWalk.ts"

const bounds: JsonBounds = { levels: 2, values: 5, arrayNumbers: 0, otherBytes: 10_000 }

/** What is passed of the bounds, with the bytes at once and one by one, which must agree. */
const passed = (text: string, changed: Partial<JsonBounds> = {}) => {
  const bytes = Buffer.from(text)
  const atOnce = walkJson({ ...bounds, ...changed }).push(bytes)
  const walk = walkJson({ ...bounds, ...changed })
  let oneByOne: typeof atOnce = null
  for (let at = 0; at < bytes.length && oneByOne === null; at++) {
    oneByOne = walk.push(bytes.subarray(at, at + 1))
  }
  assert.strictEqual(oneByOne, atOnce)
  return atOnce
}

/** Media that are found whatever the pieces are. */
const mediaOf = (text: string, size: number) => {
  const bytes = Buffer.from(text)
  const walk = walkJson({ ...bounds, otherBytes: bytes.length, values: bytes.length })
  for (let at = 0; at < bytes.length; at += size) walk.push(bytes.subarray(at, at + size))
  return walk.media.map(({ from, to }) => bytes.subarray(from, to).toString())
}

describe("the depth of JSON", () => {
  it.each([
    "",
    "1",
    "[]",
    "[[]]",
    '{"a":{}}',
    '["[[[[[["]',
    '["\\"[[[[[["]',
    '["\\\\",[]]',
    `["${"[".repeat(500)}"]`,
    `["${"x".repeat(100)}\\"${"[".repeat(100)}"]`,
    '["é漢🗼",[1]]'
  ])("is within 2 levels: %s", (text) => {
    assert.isNull(passed(text))
  })

  it.each([
    "[[[",
    '{"a":{"b":{}}}',
    '["\\\\",[[]]]',
    `["${"x".repeat(200)}",[[]]]`,
    `["${"\\\\".repeat(100)}",[[]]]`,
    '["","",[[1]]]',
    "[".repeat(1_000_000)
  ])("is beyond 2 levels: %.40s", (text) => {
    assert.strictEqual(passed(text), "levels")
  })

  it("is that of what is open, not of what was", () => {
    assert.isNull(passed(`[${"[],".repeat(1000)}[]]`, { values: 2000 }))
  })
})

describe("the number of values of JSON", () => {
  it.each([
    "[1,2,3,4]",
    "[[],[],[],[]]",
    '[{ },{},"",null]',
    '{"a":1,"b":"","c":[],"d":{}}',
    '{"a":[1,{"":true}]}',
    '["a,b,c,d,e,f,[],{}",",",",",","]',
    '{",,,,,,":[",,,,",2,3]}',
    "[ [ 1 ] , [ 2 ] ]"
  ])("is 5: %s", (text) => {
    assert.isNull(passed(text, { levels: 3 }))
    assert.strictEqual(passed(text, { levels: 3, values: 4 }), "values")
  })

  it.each([
    "[],".repeat(1000),
    "1,".repeat(1000),
    '{"":{}},'.repeat(1000),
    '"",'.repeat(1000),
    `{${'"a":1,'.repeat(1000)}`
  ])("is told before the end, and of what is no JSON: %.20s", (text) => {
    assert.strictEqual(passed(text), "values")
  })

  it("does not hold numbers in arrays where they are free, as far as they are", () => {
    const free = { arrayNumbers: 6 }
    assert.isNull(passed("[1,-2,3,4,5,6,7,8,9,10]", free))
    assert.strictEqual(passed("[1,-2,3,4,5,6,7,8,9,10,11]", free), "values")
    assert.isNull(passed("[[1,2],[3,4],[5,6]]", free))
    assert.strictEqual(passed('{"a":1,"b":2,"c":3,"d":4,"e":5}', free), "values")
    assert.strictEqual(passed("[null,null,null,null,null]", free), "values")
  })
})

describe("the large media of JSON", () => {
  const medium = "data:image/png;base64,".padEnd(2000, "A")

  it.each([1, 2, 3, 7, 64, 1000, 100_000])("are found in pieces of %i bytes", (size) => {
    const texts = [medium, `${medium}\\/\\n\\"`, `${medium}\\\\`]
    const others = ["x".repeat(1024), `${medium}é`, `${medium}\\u0041`, `\\u0041${medium}`]
    const text = `{"a":["${[...texts, ...others].join('","')}"],"${medium}" : "${medium}"}`
    assert.deepStrictEqual(mediaOf(text, size), [...texts, medium])
  })

  it("are not among the bytes that are bounded, and all else is", () => {
    const large = "A".repeat(20_000)
    assert.isNull(passed(`["${large}","${large}"]`))
    assert.strictEqual(passed(`["${large}é"]`), "otherBytes")
    assert.strictEqual(passed(`["${large}\\u0041"]`), "otherBytes")
    assert.strictEqual(passed(`{"${large}":1}`), "otherBytes")
    assert.strictEqual(passed(" ".repeat(20_000)), "otherBytes")
    assert.strictEqual(passed("1".repeat(20_000)), "otherBytes")
  })
})
