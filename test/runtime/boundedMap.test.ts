import { assert, describe, it } from "@effect/vitest"
import { makeBoundedMap } from "../../src/runtime/boundedMap.ts"

describe("a bounded map", () => {
  it("takes no more than its room, and what was used last stays", () => {
    const map = makeBoundedMap<string>(100, (text) => text.length)
    const names = Array.from({ length: 1000 }, (_, index) => `${index}`)
    map.set("read", "123456")
    for (const name of names) {
      map.set(name, "1234567890")
      assert.isNotNull(map.get("read"))
    }
    assert.deepStrictEqual(
      names.filter((name) => map.get(name) !== null),
      names.slice(-9)
    )
  })

  it("counts what is kept again once, and what was dropped not at all", () => {
    const map = makeBoundedMap<string>(100, (text) => text.length)
    for (let times = 0; times < 10; times++) map.set("a", "x".repeat(60))
    map.set("b", "x".repeat(40))
    assert.isNotNull(map.get("a"))
    map.drop("a")
    assert.isNull(map.get("a"))
    map.set("c", "x".repeat(60))
    assert.isNotNull(map.get("b"))
  })

  it("passes over what is larger than its room", () => {
    const map = makeBoundedMap<string>(100, (text) => text.length)
    map.set("small", "x")
    map.set("large", "x".repeat(101))
    assert.isNull(map.get("large"))
    assert.isNotNull(map.get("small"))
  })

  it("counts its entries where nothing else is said", () => {
    const map = makeBoundedMap<boolean>(2)
    for (const name of ["a", "b", "c"]) map.set(name, true)
    assert.deepStrictEqual(["a", "b", "c"].map(map.get), [null, true, true])
  })
})
