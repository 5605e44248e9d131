import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { csvText, type Row } from "../../../src/runtime/texts/csvText.ts"

const textOf = (rows: ReadonlyArray<Row>) =>
  Stream.mkString(csvText(["id", "cell"])(Stream.fromIterable(rows)))

describe("CSV", () => {
  it.effect.each([
    ["=SUM(A1)", "'=SUM(A1)"],
    ["+1+1", "'+1+1"],
    ["-1+1", "'-1+1"],
    ["@cmd", "'@cmd"],
    ["\tx", "'\tx"],
    ["-0.0414", "-0.0414"],
    ["a=b", "a=b"],
    ['say "x"', '"say ""x"""'],
    ["a,b", '"a,b"'],
    ["a\nb", '"a\nb"'],
    ['=1,"x"', '"\'=1,""x"""'],
    ["", ""],
    [null, ""],
    [7, "7"]
  ] as const)("writes %j as %s", ([cell, written]) =>
    Effect.gen(function* () {
      const text = yield* textOf([{ cell, id: "us_1" }])
      assert.strictEqual(text, `id,cell\r\nus_1,${written}\r\n`)
    })
  )

  it.effect("of nothing has its header all the same", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* textOf([]), "id,cell\r\n")
    })
  )
})
