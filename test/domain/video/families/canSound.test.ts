import { assert, it } from "@effect/vitest"
import { canSound } from "../../../../src/domain/video/families/VideoFamily.ts"

it.each([
  ["switch", true, true],
  ["always", true, false],
  ["never", false, true],
  ["unset", false, false]
] as const)("of sound that is %s: with %s, without %s, unsaid always", (sound, on, off) => {
  assert.deepStrictEqual(
    [true, false, null].map((wanted) => canSound(sound, wanted)),
    [on, off, true]
  )
})
