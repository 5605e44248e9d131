/** The way of an order in the README, compared with the imports and with what the files say. */
import { assert, describe, it } from "@effect/vitest"
import { imports, marked, quoted, read, rowsOf } from "./documents.ts"

const steps = rowsOf(marked("src/orders/README.md", "way")).map(
  ([step = "", file = "", functions = ""]) => ({
    step,
    file: quoted(file)[0] ?? "",
    functions: quoted(functions)
  })
)

/** Puts layers together, so that it imports far more than a request passes. */
const COMPOSITION = "src/gateway.ts"

/**
 * Files a call leads to: those that are imported, and those that are behind an interface of
 * `services/` that both import. The server finds its routes through the composition.
 */
const leadsTo = (from: string, to: string): boolean => {
  const targets = imports.get(from) ?? []
  if (from === COMPOSITION) {
    const rooms = targets.filter((path) => path.endsWith("/layer.ts"))
    const composed = [...targets, ...rooms.flatMap((room) => imports.get(room) ?? [])]
    return to.startsWith("src/http/") && composed.includes(to)
  }
  const tags = (imports.get(to) ?? []).filter((path) => path.startsWith("src/services/"))
  return targets.includes(to) || tags.some((tag) => targets.includes(tag))
}

describe("the way of an order", () => {
  it("begins at the socket and goes through the adapters", () => {
    assert.isAtLeast(steps.length, 8)
    assert.deepStrictEqual(
      steps.slice(0, 2).map(({ file }) => file),
      [COMPOSITION, "src/http/server/listener.ts"]
    )
    assert.isTrue(steps.some(({ file }) => file.startsWith("src/adapters/wire/")))
  })

  it("leads over files that exist, each reached from one before it", () => {
    const cut = steps.filter(({ file }, at) => {
      if (!imports.has(file)) return true
      const before = steps.slice(0, at)
      return (
        at > 0 && !before.some((earlier) => earlier.file === file || leadsTo(earlier.file, file))
      )
    })
    assert.deepStrictEqual(
      cut.map(({ file }) => file),
      []
    )
  })

  it("names functions that the files have", () => {
    const missing = steps.flatMap(({ file, functions }) =>
      functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(read(file)))
    )
    assert.deepStrictEqual(missing, [])
  })
})
