/** What a new version of a catalog adds, changes and removes. */
import { assert, describe, it } from "@effect/vitest"
import { compareLists } from "../../../src/domain/catalog/CatalogChange.ts"

describe("the change between two lists", () => {
  const compare = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) =>
    compareLists(before, after, (entry) => entry.slice(0, 1))

  it.each([
    [[], [], [], [], []],
    [["a1"], ["a1"], [], [], []],
    [[], ["a1", "b1"], ["a", "b"], [], []],
    [["a1", "b1"], [], [], [], ["a", "b"]],
    [["a1"], ["a2"], [], ["a"], []],
    [["a1", "b1", "c1"], ["c1", "b2", "d1"], ["d"], ["b"], ["a"]]
  ])(
    "from %j to %j adds %j, changes %j and removes %j",
    (before, after, added, changed, removed) => {
      assert.deepStrictEqual(compare(before, after), { added, changed, removed })
    }
  )
})
