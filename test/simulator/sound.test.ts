import { assert, describe, it } from "@effect/vitest"
import { soundLength } from "../../src/domain/audio/soundLength.ts"
import { type MadeSound, madeSounds, makeSound } from "../../src/simulator/media/sound.ts"

/** The formats that the gateway measures, and by how many milliseconds they may be too long. */
const measured = [
  ["wav", "wav", 0],
  ["mp3", "mp3", 24],
  ["opus", "ogg", 0],
  ["flac", "flac", 0]
] as const satisfies ReadonlyArray<readonly [MadeSound, string, number]>

describe("a sound of a simulated vendor", () => {
  it.each(measured)("as %s lasts as long as it says", (made, format, longerMs) => {
    for (const milliseconds of [1, 480, 3217, 60_000]) {
      const length = soundLength(makeSound(made, milliseconds))
      assert.strictEqual(length?.format, format)
      assert.isAtLeast(length?.milliseconds ?? 0, milliseconds)
      assert.isBelow(length?.milliseconds ?? 0, milliseconds + longerMs + 1)
    }
  })

  it("as pcm has 48 bytes per millisecond, and as aac a frame of 11 bytes per 1024 samples", () => {
    assert.strictEqual(makeSound("pcm", 3217).length, 3217 * 48)
    assert.strictEqual(makeSound("aac", 3217).length, 11 * Math.ceil((3217 * 24) / 1024))
  })

  it.each(madeSounds)("as %s is the same every time", (format) => {
    assert.deepStrictEqual(makeSound(format, 1500), makeSound(format, 1500))
  })
})
