import { assert, describe, it } from "@effect/vitest"
import type { VendorParameters } from "../../src/domain/catalog/vendorParameters.ts"
import { isMarked, withMark, withMarkDefault } from "../../src/domain/marks.ts"

const fields: VendorParameters = {
  watermark: { type: "boolean", default: false, description: "The mark" },
  seed: { type: "integer", minimum: 0, maximum: 9, description: "The seed" }
}
const others: VendorParameters = { watermark: { type: "text", max_length: 9, description: "x" } }

describe("the mark of an order", () => {
  it.each([
    [{ seed: 1 }, fields, { seed: 1, watermark: true }],
    [{ watermark: null }, fields, { watermark: true }],
    [{ watermark: false }, fields, { watermark: false }],
    [{ watermark: true }, fields, { watermark: true }],
    [{ seed: 1 }, {}, { seed: 1 }],
    [{ seed: 1 }, others, { seed: 1 }]
  ])("of %j is added where the field exists and is not set", (values, known, expected) => {
    assert.deepStrictEqual(withMark<Readonly<Record<string, unknown>>>(values, known), expected)
  })

  it.each([
    [{ watermark: true }, fields, true],
    [{ watermark: false }, fields, false],
    [{}, fields, false],
    [{ watermark: true }, {}, false]
  ])("of %j is known where the model has the field", (values, known, expected) => {
    assert.strictEqual(isMarked(values, known), expected)
  })

  it("is the default that the fields of a model show", () => {
    assert.deepStrictEqual(withMarkDefault(fields), {
      ...fields,
      watermark: { type: "boolean", default: true, description: "The mark" }
    })
    assert.deepStrictEqual(withMarkDefault({}), {})
  })
})
