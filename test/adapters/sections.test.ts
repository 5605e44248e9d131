/** Adapters read alike: the same sections in the same order, so that two of them can be compared. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { audioProtocols } from "../../src/domain/audio/AudioProtocol.ts"
import { rerankProtocols, textProtocols } from "../../src/domain/catalog/ProtocolTables.ts"
import { imageProtocols } from "../../src/domain/image/ImageProtocol.ts"
import { videoProtocols } from "../../src/domain/video/VideoProtocol.ts"

const room = join(import.meta.dirname, "../../src/adapters")
const sections = ["Wire schemas", "To the vendor", "From the vendor", "Calls"]

/** Names the helpers give a meaning to, and the section each stands in. */
const places: ReadonlyArray<readonly [declared: RegExp, section: string]> = [
  [/^const is[A-Z]\w* = Schema\.is\(/m, "Wire schemas"],
  [/^const (?:submit|poll|generate|check)Request\b/m, "To the vendor"],
  [/^(?:export )?const read(?:Submitted|Polled|Generated|Checked)\b/m, "From the vendor"],
  [/^export const (?:make|family)[A-Z]\w*/m, "Calls"]
]

const files = readdirSync(room, { recursive: true, encoding: "utf8" })
  .filter(
    (file) => !/^(?:common|wire|liveAdapters|queueAdapters)/.test(file) && file.endsWith(".ts")
  )
  .sort()

/** The text of each section by its title, in the order they stand. */
const sectionsOf = (file: string): ReadonlyArray<readonly [title: string, text: string]> => {
  const [, ...parts] = readFileSync(join(room, file), "utf8").split(/^\/\/ (?=[A-Z])/m)
  return parts.map((part) => [/^[A-Za-z ]+/.exec(part)?.[0] ?? "", part] as const)
}

describe("the adapters", () => {
  it("are as many as there are protocols", () => {
    // One folder has the adapters of all protocols that documents describe, and one those of
    // vendors of chats, with and without responses.
    const protocols = new Set([
      "queue",
      ...[videoProtocols, imageProtocols, textProtocols, rerankProtocols, audioProtocols].flatMap(
        (table) => Object.keys(table).map((name) => (name === "openai_responses" ? "openai" : name))
      )
    ])
    const homes = new Set(files.map((file) => file.replace(/(?:\.ts|\/.*)$/, "")))
    assert.deepStrictEqual([...homes].sort(), [...protocols].sort())
  })

  it.each(files)("%s has the four sections in their order", (file) => {
    assert.deepStrictEqual(
      sectionsOf(file).map(([title]) => title),
      sections
    )
  })

  it.each(files)("%s has everything in its section", (file) => {
    for (const [title, text] of sectionsOf(file)) {
      for (const [declared, section] of places) {
        if (section !== title) assert.notMatch(text, declared, `in "${title}"`)
      }
    }
  })
})
