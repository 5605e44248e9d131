/** The picture of the rooms, compared with the imports. */
import { assert, describe, it } from "@effect/vitest"
import { imports, marked } from "./documents.ts"

/** The room of a file: its first folder in `src`, or nothing for the files that put all together. */
const roomOf = (file: string): string | null => file.split("/").slice(1, -1)[0] ?? null

const rooms = new Set([...imports.keys()].map(roomOf).filter((room) => room !== null))

/**
 * The floors from the top down: the first words of a line that are rooms. What stands after two
 * spaces and no further room explains them.
 */
const floors = marked("src/README.md", "rooms")
  .split("\n")
  .map((line) => {
    const words = line.trim().split(/\s+/)
    const end = words.findIndex((word) => !rooms.has(word))
    return words.slice(0, end === -1 ? words.length : end)
  })
  .filter((floor) => floor.length > 0)

const floorOf = new Map(floors.flatMap((names, floor) => names.map((name) => [name, floor])))

/** They take the gateway as a whole, for others. */
const beside: ReadonlySet<string> = new Set(["ai-sdk", "cli", "client", "console", "testing"])

describe("the picture of the rooms", () => {
  it("has every room, each once", () => {
    assert.deepStrictEqual(
      floors.flat().toSorted(),
      [...rooms].filter((room) => !beside.has(room)).toSorted()
    )
  })

  it("lets no room import from its own floor or above", () => {
    const strays = [...imports].flatMap(([file, targets]) => {
      const from = roomOf(file)
      if (from === null || beside.has(from)) return []
      return targets
        .filter((target) => {
          const to = roomOf(target)
          if (to === from) return false
          // It says that this Node.js is too old, before anything else is loaded.
          if (target === "src/nodeVersion.ts") return false
          const [above, below] = [floorOf.get(from), to === null ? undefined : floorOf.get(to)]
          return above === undefined || below === undefined || below <= above
        })
        .map((target) => `${file} -> ${target}`)
    })
    assert.deepStrictEqual(strays, [])
  })

  it("draws no floor that nobody above needs", () => {
    const used = new Set(
      [...imports].flatMap(([file, targets]) =>
        targets.map(roomOf).filter((room) => room !== roomOf(file))
      )
    )
    assert.deepStrictEqual(
      floors.flat().filter((room) => !used.has(room)),
      []
    )
  })
})
