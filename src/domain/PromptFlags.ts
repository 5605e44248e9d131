/**
 * Flags a client may write inside the text: `--duration 8`, `--resolution 1080p`, `--ratio 16:9`,
 * with `=` or a space, and the vendor family's short forms. They are read once and removed, because
 * some upstream models would read them again and render another tier than the one billed.
 */

const names = {
  duration: "duration",
  dur: "duration",
  resolution: "resolution",
  rs: "resolution",
  ratio: "ratio",
  rt: "ratio"
} as const

type FlagName = keyof typeof names
type Flag = (typeof names)[FlagName]

/**
 * A flag stands at the start, after a space or right after another flag's `=`; its value is the
 * next word that is not itself a flag. Spaces are matched only behind a name, never before one:
 * a pattern that looks for them first takes quadratic time on a text full of spaces.
 */
const flagPattern =
  /(?<![^\s=])--(duration|dur|resolution|rs|ratio|rt)(?![\w-])(?:\s*=\s*|\s+)?((?<=[\s=])(?!--|=)\S+)?/gi

export interface PromptFlags<Block> {
  readonly blocks: ReadonlyArray<Block>
  /** What the text said, as written; an empty string is a flag without a value. Last one wins. */
  readonly duration: string | null
  readonly resolution: string | null
  readonly ratio: string | null
}

interface TextBlock {
  readonly type: "text"
  readonly text: string
}

const isFlagName = (name: string): name is FlagName => Object.hasOwn(names, name)

const isText = (block: { readonly type: string }): block is TextBlock => block.type === "text"

/** The text between the flags; what the flags said is noted in `found`. */
const cutFlags = (text: string, found: Record<Flag, string | null>): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let end = 0
  for (const match of text.matchAll(flagPattern)) {
    const [whole, name = "", value = ""] = match
    const key = name.toLowerCase()
    if (isFlagName(key)) found[names[key]] = value
    pieces.push(text.slice(end, match.index))
    end = match.index + whole.length
  }
  return [...pieces, text.slice(end)]
}

/** What holds two pieces together: the line break that stood around the flag, or a space. */
const gapBetween = (left: string, right: string): string => {
  const before = left.slice(left.trimEnd().length)
  const after = right.slice(0, right.length - right.trimStart().length)
  return before.includes("\n") || after.includes("\n") ? "\n" : " "
}

const joinPieces = (pieces: ReadonlyArray<string>): string =>
  pieces
    .flatMap((piece, index) => {
      const text = piece.trim()
      const left = pieces[index - 1]
      if (text === "") return []
      return left === undefined ? [text] : [gapBetween(left, piece), text]
    })
    .join("")
    .trim()

/** Takes the flags out of every text block; a block that held nothing else disappears. */
export const takeFlags = <Block extends { readonly type: string } | TextBlock>(
  blocks: ReadonlyArray<Block>
): PromptFlags<Block> => {
  const found: Record<Flag, string | null> = { duration: null, resolution: null, ratio: null }
  const kept = blocks.flatMap((block) => {
    if (!isText(block)) return [block]
    const pieces = cutFlags(block.text, found)
    if (pieces.length === 1) return block.text.trim() === "" ? [] : [block]
    const rest = joinPieces(pieces)
    return rest === "" ? [] : [{ ...block, text: rest }]
  })
  return { blocks: kept, ...found }
}
