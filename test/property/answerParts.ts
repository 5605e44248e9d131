/** What the answers of every protocol are put together from: the mark of a product, media and tokens. */
import type { AnswerPlan } from "./plans.ts"

/** What one order's product is known by. */
export interface Mark {
  /** Letters and digits: stands in base64, addresses and words as it is. */
  readonly text: string
  /** Decimals of the numbers of a vector. */
  readonly digits: string
}

export type Json = Readonly<Record<string, unknown>>

/** Written into the text of an answer as a number beyond all numbers. */
export const HUGE = "number beyond all numbers"

/** So that a picture in base64 is as long as one. */
export const PADDING = "A".repeat(40)

/** One image or film, in the form the plan says. */
export const mediumOf = (plan: AnswerPlan, mark: Mark, index: number, file: string): unknown => {
  const name = `${mark.text}i${index}`
  switch (plan.medium) {
    case "url":
    case "b64":
      return `https://media.test/${name}.${file}?sign=1`
    case "data":
      return `data:image/png;base64,iVBORw0KGgo${name}${PADDING}`
    case "ftp":
      return `ftp://media.test/${name}.${file}`
    case "script":
      return `javascript:open("${name}")`
    case "relative":
      return `/media/${name}.${file}`
    case "long":
      return `https://media.test/${name}.${file}?pad=${"p".repeat(20_000)}`
    case "object":
      return { url: `https://media.test/${name}.${file}` }
    case "number":
      return 17
    default:
      return null
  }
}

/** Tokens a vendor reports; undefined where it reports none. */
export const usageOf = ({ usage }: AnswerPlan, output: number): unknown => {
  const counts = (prompt: unknown, completion: unknown) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: completion
  })
  switch (usage) {
    case "good":
    case "middle":
      return counts(12, output)
    case "zero":
      return counts(0, 0)
    case "no output":
      return counts(12, 0)
    case "negative":
      return counts(-12, -output)
    case "float":
      return counts(0.5, output + 0.5)
    case "string":
      return counts("12", String(output))
    case "huge":
      return counts(HUGE, HUGE)
    default:
      return undefined
  }
}

export const indexes = (count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => index)

const itemCounts = { none: 0, one: 1, "one more": 1, many: 9, asked: 0 } as const

/** How many images, parts of a sound or pieces of text the vendor delivers. */
export const itemsOf = ({ items }: AnswerPlan, ordered: number): number => {
  if (items === "asked") return ordered
  return items === "one more" ? ordered + 1 : itemCounts[items]
}

const OF_TEXT = { content: 3, many: 400 } as const

/** The words of a text answer, each with the mark. */
export const wordsOf = (plan: AnswerPlan, mark: Mark): ReadonlyArray<string> =>
  indexes(plan.items === "many" ? OF_TEXT.many : itemsOf(plan, OF_TEXT.content)).map(
    (index) => `${mark.text}w${index} `
  )
