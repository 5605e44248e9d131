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
 * next word that is not itself a flag. The spaces around it go with it.
 */
const flagPattern =
  /(\s*)(?<![^\s=])--(duration|dur|resolution|rs|ratio|rt)(?![\w-])(?:\s*=\s*|\s+)?((?<=[\s=])(?!--|=)\S+)?(\s*)/gi

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
    const text = block.text.replace(
      flagPattern,
      (_, before: string, name: string, value: string | undefined, after: string) => {
        const key = name.toLowerCase()
        if (isFlagName(key)) found[names[key]] = value ?? ""
        return /\n/.test(before + after) ? "\n" : " "
      }
    )
    if (text === block.text) return text.trim() === "" ? [] : [block]
    const rest = text.trim()
    return rest === "" ? [] : [{ ...block, text: rest }]
  })
  return { blocks: kept, ...found }
}
