import { assert, describe, it } from "@effect/vitest"
import { isShallowJson } from "../../src/http/jsonDepth.ts"

const shallow = (text: string, levels = 2) => isShallowJson(Buffer.from(text), levels)

describe("the depth of JSON", () => {
  it.each([
    "",
    "1",
    "[]",
    "[[]]",
    '{"a":{}}',
    '[{},{},[],{"a":[]}]'.slice(0, 11),
    '["[[[[[["]',
    '["\\"[[[[[["]',
    '["\\\\",[]]',
    `["${"[".repeat(500)}"]`,
    `["${"x".repeat(100)}\\"${"[".repeat(100)}"]`,
    '["é漢🗼",[1]]'
  ])("is within 2 levels: %s", (text) => {
    assert.isTrue(shallow(text))
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
    assert.isFalse(shallow(text))
  })

  it("is that of what is open, not of what was", () => {
    assert.isTrue(shallow(`[${"[],".repeat(1000)}[]]`))
  })
})
