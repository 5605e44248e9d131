import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fieldKey, nearestName } from "../../src/domain/nearest.ts"

describe("the key of a field", () => {
  it.each([
    ["num_images", "numimages"],
    ["numImages", "numimages"],
    ["NUM-IMAGES", "numimages"],
    [" num images ", "numimages"],
    ["\u017ftream", "stream"],
    ["\u212aey", "key"],
    ["ｎ", "n"],
    ["日本", "日本"]
  ])("of %j is %j", (name, key) => {
    assert.strictEqual(fieldKey(name), key)
  })
})

describe("the nearest name", () => {
  const names = ["film-1", "film-2", "paint-1", "doubao-seedance-1-0-pro"]
  it.each([
    ["film-1", "film-1"],
    ["FILM-1", "film-1"],
    ["film1", "film-1"],
    ["fiml-2", "film-2"],
    ["flim2", null],
    ["paint", null],
    ["paint-", "paint-1"],
    ["doubao-seedance-1.0-pro", "doubao-seedance-1-0-pro"],
    ["doubao-seadence-1-0-pro", "doubao-seedance-1-0-pro"],
    ["x", null],
    ["", null],
    ["nothing like it", null]
  ])("to %j is %j", (wished, nearest) => {
    assert.strictEqual(nearestName(wished, names), nearest)
  })

  it.prop("of a name and one letter more is the name", [Schema.String], ([letters]) => {
    const name = `model-${letters.slice(0, 20)}`.toLowerCase()
    assert.strictEqual(nearestName(`${name}x`, ["another", name]), name)
  })

  it("is not looked for among thousands", () => {
    let asked = 0
    function* endless() {
      while (true) yield `model-${String(asked++ % 100).padStart(90, "0")}`
    }
    assert.isNull(nearestName(`madel-${"1".repeat(90)}`, endless()))
    assert.isBelow(asked, 600)
    assert.isNull(nearestName("x".repeat(101), endless()))
  })
})
