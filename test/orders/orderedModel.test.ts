import { assert, describe, it } from "@effect/vitest"
import { RawAnswer } from "../../src/domain/RawAnswer.ts"
import { makeModelRenaming, renameRawModel } from "../../src/orders/text/orderedModel.ts"

const renamed = (text: string): string =>
  Buffer.from(makeModelRenaming("talk-1")(Buffer.from(text))).toString()

describe("the name of the model in a vendor's answer", () => {
  it.each([
    ['{"id":"é","model":"vendor-1","n":1.0}', '{"id":"é","model":"talk-1","n":1.0}'],
    ['data: { "model" : "v" }\n\n', 'data: { "model" : "talk-1" }\n\n'],
    ['{"choices":[{"model":"a"}],"model":"v"}', '{"choices":[{"model":"a"}],"model":"talk-1"}'],
    ['{"model":"a \\"quoted\\" one"}', '{"model":"talk-1"}']
  ])("in %s becomes that of the order", (text, expected) => {
    assert.strictEqual(renamed(text), expected)
  })

  it.each([
    '{"content":"\\"model\\":\\"v\\""}',
    '{"model":null,"choices":[]}',
    '{"object":"model"}',
    '["model","v"]',
    'data: "model": "v"\n\n',
    ":\n\n"
  ])("is nowhere in %s, which stays as it is", (text) => {
    assert.strictEqual(renamed(text), text)
  })

  it("is replaced in every event of a stream, also after events with other names", () => {
    const rename = makeModelRenaming("talk-1")
    const events = [
      '{"id":"a","model":"vendor-1","n":1}',
      '{"id":"a","model":"vendor-1","n":2}',
      '{"id":"a","model":"vendor-12","n":3}',
      '{"id":"a","object":"x"}',
      '{"id":"b","x":{"model":"y"},"model":"vendor-1"}',
      '{"id":"a","model":"vendor-1","n":4}',
      '{"id":"a","model":"vendor-1"'
    ]
    for (const event of events) {
      const expected = event.replace(/"vendor-12?"/, '"talk-1"')
      assert.strictEqual(Buffer.from(rename(Buffer.from(event))).toString(), expected)
    }
  })

  it("is searched in linear time, also before a cut string full of quotes", () => {
    const text = `{"usage":{"model":"v"},"content":"${'\\"'.repeat(100_000)}"}`
    for (let times = 0; times < 5; times++) assert.strictEqual(renamed(text), text)
  })

  it("is replaced in a large answer too, whose other bytes stay as they are", () => {
    let released = 0
    const chunks = ['{"model":"vendor-1","choices":[', `"${"x".repeat(100_000)}"]}`]
    const raw = new RawAnswer(
      chunks.map((chunk) => Buffer.from(chunk)),
      () => {
        released += 1
      }
    )
    const answer = renameRawModel(raw, "talk-1")
    assert.strictEqual(
      Buffer.concat(answer.chunks).toString(),
      chunks.join("").replace("vendor-1", "talk-1")
    )
    assert.strictEqual(answer.bytes, raw.bytes - "vendor-1".length + "talk-1".length)
    answer.release()
    assert.deepStrictEqual([answer.isCounted, released], [true, 1])
  })
})
