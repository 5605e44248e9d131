/**
 * A reader of prompt flags as a vendor may have one, made to see too much: it takes the text apart
 * at its dashes, also after it has dropped what is invisible and replaced look-alikes.
 */

/** Every name the vendors document, or that stands in the body of such an order. */
const names: ReadonlySet<string> = new Set(
  "duration dur resolution rs ratio rt frames frm frames_per_second fps seed sd camera_fixed cf watermark wm generate_audio draft service_tier n size model"
    .split(" ")
    .flatMap((name) => ["_", "-", ""].map((gap) => name.replaceAll("_", gap)))
)

const dashes: ReadonlyMap<string, string> = new Map([
  ...[..."-‐‑‒−﹣－"].map((dash) => [dash, "-"] as const),
  ...[..."–—―⸺⸻﹘"].map((dash) => [dash, "--"] as const)
])

const hyphenated = (text: string) => [...text].map((one) => dashes.get(one) ?? one).join("")
const isHidden = (one: string) =>
  /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(one) && !/[\t-\r\u0085]/.test(one)
const visible = (text: string) => [...text].filter((one) => !isHidden(one)).join("")

/** A letter from A to Z, a digit or a hyphen before the dashes makes them part of its word. */
const belongsToWord = (before: string) => /[a-z0-9-]$/i.test(before)

const nameAt = (after: string): string | null => {
  const [word = ""] = /^[a-z][a-z_-]*/i.exec(after) ?? []
  const name = word.toLowerCase().replace(/[_-]+$/, "")
  return names.has(name) ? name : null
}

/** Names of flags in one reading of the text. */
const readIn = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = text.indexOf("--"); at >= 0; at = text.indexOf("--", at + 1)) {
    const name = nameAt(text.slice(at + 2))
    if (name !== null && !belongsToWord(text.slice(0, at))) found.push(name)
  }
  return found
}

/** Names of the flags that are seen in any way of reading the text. */
export const flagsIn = (text: string): ReadonlyArray<string> => [
  ...new Set(
    [text, visible(text)]
      .flatMap((one) => [one, one.normalize("NFKC")])
      .flatMap((one) => [one, hyphenated(one)])
      .flatMap(readIn)
  )
]
