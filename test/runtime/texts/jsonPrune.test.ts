/** Pruned JSON against its decoded whole, cut into pieces at every place. */
import { assert, describe, it } from "@effect/vitest"
import { pruneJson } from "../../../src/runtime/texts/jsonPrune.ts"

const names = new Set(["embedding", "logprobs"])

const pruned = (pieces: ReadonlyArray<Buffer>): unknown => {
  const prune = pruneJson(names)
  for (const piece of pieces) prune.push(piece)
  return JSON.parse(prune.result().toString())
}

const withoutThem = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, inner: unknown) => (names.has(name) ? null : inner)))

const values: ReadonlyArray<unknown> = [
  { data: [{ index: 0, embedding: [0.5, -1.5e-7, 3] }, { embedding: "AAA=" }], usage: { n: 1 } },
  { logprobs: null, more: true },
  { logprobs: 12.5 },
  { a: { logprobs: { content: [{ token: 'a "quoted" } ] \\', bytes: [[1], [2]] }] } }, b: "}" },
  { text: '"embedding":[1,2', 'a "logprobs"': 1, list: ["embedding", "logprobs", ["logprobs"]] },
  { embedding: [], logprobs: {}, last: [] },
  [[{ embedding: [[1, 2], [3]] }], "é\u2028", "\\", "\\\\"],
  { "": { embedding: '\\"' } }
]

describe("pruned JSON", () => {
  it.each(values.map((value) => [JSON.stringify(value), value] as const))(
    "%s is itself without the fields, wherever it is cut",
    (text, value) => {
      const spaced = JSON.stringify(value, null, 2)
      for (const written of [text, spaced, `${text}\n`]) {
        const bytes = Buffer.from(written)
        const expected = withoutThem(value)
        for (let first = 0; first <= bytes.length; first += 1) {
          const pieces = [bytes.subarray(0, first), bytes.subarray(first)]
          assert.deepStrictEqual(pruned(pieces), expected, `cut at ${first}`)
        }
        const each = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1))
        assert.deepStrictEqual(pruned(each), expected)
      }
    }
  )

  it.each([
    ["cut in a field that is left out", '{"a":1,"embedding":[1,2'],
    ["cut in a text that is left out", '{"embedding":"AAAA'],
    ["two values", '{"a":1}{"b":2}'],
    ["no JSON", "<html>{</html>"],
    ["nothing", ""]
  ])("of %s is no JSON either", (_, text) => {
    assert.throws(() => pruned([Buffer.from(text)]))
  })
})
