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

const flagPattern =
  /(?<=^|\s)--(duration|dur|resolution|rs|ratio|rt)(?:(?:\s*=\s*|\s+)(?!--)(\S+)|=?(?=\s|$))/gi

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

/** Takes the flags out of every text block; a block that held nothing else disappears. */
export const takeFlags = <Block extends { readonly type: string } | TextBlock>(
  blocks: ReadonlyArray<Block>
): PromptFlags<Block> => {
  const found: Record<Flag, string | null> = { duration: null, resolution: null, ratio: null }
  const kept = blocks.flatMap((block) => {
    if (!isText(block)) return [block]
    const text = block.text
      .replace(flagPattern, (_, name: string, value: string | undefined) => {
        const key = name.toLowerCase()
        if (isFlagName(key)) found[names[key]] = value ?? ""
        return ""
      })
      .replace(/[ \t]{2,}/g, " ")
      .trim()
    return text === "" ? [] : [{ ...block, text }]
  })
  return { blocks: kept, ...found }
}
