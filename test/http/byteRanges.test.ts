/** Which part of a file a `Range` header asks for. */
import { assert, it } from "@effect/vitest"
import { byteRangeOf } from "../../src/http/byteRanges.ts"

const cases: ReadonlyArray<readonly [string | undefined, ReturnType<typeof byteRangeOf>]> = [
  [undefined, null],
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=0-", { start: 0, end: 99 }],
  ["bytes=10-19", { start: 10, end: 19 }],
  ["bytes=90-200", { start: 90, end: 99 }],
  ["bytes=99-99", { start: 99, end: 99 }],
  ["bytes=-1", { start: 99, end: 99 }],
  ["bytes=-500", { start: 0, end: 99 }],
  ["bytes=100-", "beyond"],
  ["bytes=-0", "beyond"],
  ["bytes=20-10", null],
  ["bytes=-", null],
  ["bytes=0-1,5-6", null],
  ["lines=0-1", null],
  ["bytes=a-b", null]
]

for (const [range, part] of cases) {
  it(`${range ?? "no header"} of 100 bytes`, () => {
    assert.deepStrictEqual(byteRangeOf(range, 100), part)
  })
}

it("an empty file has no parts", () => {
  assert.strictEqual(byteRangeOf("bytes=0-", 0), "beyond")
  assert.strictEqual(byteRangeOf("bytes=-5", 0), "beyond")
})
