/**
 * Flags that a client may write inside the text: `--duration 8`, `--rs=1080p`, `黄昏--ratio 16:9`.
 * Flags are read once and removed from the text, because some upstream models would read them again
 * and render another duration or tier than the billed one. `flagTable.ts` lists the flags.
 *
 * A flag begins with two dashes directly followed by a known name. A letter from A to Z, a digit or
 * a hyphen directly before the dashes means that they begin no flag: `well--duration` and
 * `---duration` stay in the text. Dashes of every script count, and a single dash that is longer
 * than a hyphen counts as two, since phones write `--` so. Spaces, line breaks, invisible
 * characters, `=` and `:` may stand between name and value; the value ends before punctuation and
 * before every letter outside A to Z.
 *
 * Text that still looks like a flag afterwards is refused, never sent: a name in full-width letters
 * or with invisible characters in it, `-- duration 8`, and a flag that only two adjacent blocks
 * form together.
 */
import { Result } from "effect"
import { InvalidRequest } from "../Errors.ts"
import { type FlagField, meaningOf, namePattern } from "./flagTable.ts"

/** The values of flags as written; an empty string is a flag without a value. */
export type FlagValues = Readonly<Partial<Record<FlagField, string>>>

interface TextBlock {
  readonly type: "text"
  readonly text: string
}

const isText = (block: { readonly type: string }): block is TextBlock => block.type === "text"

const DASH = "\\p{Pd}\\u2212"
const LONG_DASH = "\\u2013-\\u2015\\u2e3a\\u2e3b\\ufe58"
/** Whitespace of every kind, and invisible characters. */
const BLANK = "\\s\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}"
const BETWEEN = `[${BLANK}=:＝：]*`
/**
 * Matches a character of a value. Half a surrogate pair counts as one, so that the value is then
 * refused.
 */
const WORD = "[0-9a-z０-９ａ-ｚ\\p{Cs}]"

const NEW_WORD = "(?<![0-9a-z-])"
/**
 * Matches the position before the dashes of a flag. A run of dashes begins one flag, so no other
 * dash may stand directly before. The exception is `--` and a letter after a dash other than a
 * hyphen, because a parser that knows only hyphens sees just these two.
 */
const BEGINS = `(?=[${DASH}])(?:${NEW_WORD}(?=--[a-z])|(?<![0-9a-z${DASH}]))`
/** Matches the dashes of a flag; three hyphens begin no flag. */
const DASHES = `(?!---)(?:[${DASH}]{2,}|[${LONG_DASH}])`
const VALUE = `[-－−+]?${WORD}+(?:[.:：*×/_-]${WORD}+)*`
const FLAG = `${DASHES}(${namePattern})${BETWEEN}(${VALUE})?`

/**
 * Matches one flag. Each part of the pattern ends at a character that cannot belong to the next
 * part, so the match takes linear time.
 */
const flag = new RegExp(FLAG, "giu")
/**
 * Matches a run of adjacent flags. From the second flag on, the character before the dashes is the
 * end of a value, so `BEGINS` applies only to the first flag.
 */
const flags = new RegExp(`${BEGINS}(?:${FLAG})+`, "giu")

const SPACED = `${NEW_WORD}--[${BLANK}]+(${namePattern})(?=${BETWEEN}(?:[-+]?\\p{Nd}|true|false))`
const leftover = new RegExp(`${BEGINS}${DASHES}(${namePattern})|${SPACED}`, "iu")

/** Invisible characters that are not whitespace. */
const invisible = /(?![\t-\r\u0085])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

const dash = new RegExp(`[${DASH}]`, "u")

/**
 * Compatibility forms of Latin letters, digits and punctuation; plain characters of other scripts
 * are unchanged.
 */
const lookAlikes =
  /[\u00aa-\u00ba\u017f\u02b0-\u02e3\u1d2c-\u1dbf\u2070-\u24ff\ufb00-\ufb06\ufe50-\uff5e\u{1d400}-\u{1f1ff}]+/gu

const toPlainForms = (text: string): string =>
  text.replace(lookAlikes, (match) => match.normalize("NFKC"))

/**
 * The forms in which some vendor's parser may read a text: with and without invisible characters,
 * and with the plain forms of its letters.
 */
const readings = (text: string): ReadonlySet<string> => {
  if (!dash.test(text)) return new Set()
  const visible = text.replace(invisible, "")
  return new Set([text, visible, toPlainForms(text), toPlainForms(visible)])
}

/** The name of a flag that some vendor's parser may see in the text; null if there is none. */
const flagIn = (text: string): string | null => {
  for (const reading of readings(text)) {
    const match = leftover.exec(reading)
    if (match !== null) return match[1] ?? match[2] ?? null
  }
  return null
}

const plainValue = (flagText: string): string => flagText.normalize("NFKC").replace("\u2212", "-")

/**
 * The pieces of text between the flags, and the values of the flags; fails on the first refused
 * flag.
 */
const cutFlags = (
  text: string
): Result.Result<
  { readonly pieces: ReadonlyArray<string>; readonly flagValues: FlagValues },
  InvalidRequest
> =>
  Result.gen(function* () {
    const pieces: Array<string> = []
    const values: Partial<Record<FlagField, string>> = {}
    let end = 0
    for (const run of text.matchAll(flags)) {
      for (const [, name = "", value = ""] of run[0].matchAll(flag)) {
        values[yield* meaningOf(name)] = plainValue(value)
      }
      pieces.push(text.slice(end, run.index))
      end = run.index + run[0].length
    }
    return { pieces: [...pieces, text.slice(end)], flagValues: values }
  })

/**
 * The separator of two pieces of text: a line break if one was next to the flag, otherwise a space.
 */
const gapBetween = (left: string, right: string): string => {
  const trailingSpace = left.slice(left.trimEnd().length)
  const leadingSpace = right.slice(0, right.length - right.trimStart().length)
  return trailingSpace.includes("\n") || leadingSpace.includes("\n") ? "\n" : " "
}

const joinPieces = (pieces: ReadonlyArray<string>): string =>
  pieces
    .flatMap((piece, index) => {
      const text = piece.trim()
      const previousPiece = pieces[index - 1]
      if (text === "") return []
      return previousPiece === undefined ? [text] : [gapBetween(previousPiece, piece), text]
    })
    .join("")
    .trim()

/**
 * Refuses texts that still contain a disguised flag. Both ways in which vendors join the texts of
 * an order are checked: with a line break, and with nothing.
 */
const refuseDisguised = (texts: ReadonlyArray<string>): Result.Result<void, InvalidRequest> => {
  const name = flagIn(texts.join("\n")) ?? (texts.length > 1 ? flagIn(texts.join("")) : null)
  if (name === null) return Result.void
  const message = `The text holds what a vendor could read as the flag --${name}: write it plainly, as --${name} and its value, or take the dashes before it away`
  return Result.fail(new InvalidRequest({ message, param: "prompt" }))
}

/**
 * Removes the flags from every text block, and drops blocks that contained nothing else. The last
 * flag of a field counts. Fails on a flag that is not accepted, and on text that still looks like a
 * flag afterwards.
 */
export const takeFlags = <Block extends { readonly type: string } | TextBlock>(
  blocks: ReadonlyArray<Block>
): Result.Result<
  { readonly blocks: ReadonlyArray<Block>; readonly flagValues: FlagValues },
  InvalidRequest
> =>
  Result.gen(function* () {
    let values: FlagValues = {}
    const remainingBlocks: Array<Block> = []
    const texts: Array<string> = []
    for (const block of blocks) {
      if (!isText(block)) {
        remainingBlocks.push(block)
        continue
      }
      const cut = yield* cutFlags(block.text)
      values = { ...values, ...cut.flagValues }
      const text = cut.pieces.length === 1 ? block.text : joinPieces(cut.pieces)
      if (text.trim() === "") continue
      remainingBlocks.push({ ...block, text })
      texts.push(text)
    }
    yield* refuseDisguised(texts)
    return { blocks: remainingBlocks, flagValues: values }
  })

/** Whether a text contains flags, or text that a vendor could read as a flag. */
export const holdsFlags = (text: string): boolean =>
  Result.match(takeFlags([{ type: "text", text }]), {
    onFailure: () => true,
    onSuccess: ({ flagValues: values }) => Object.keys(values).length > 0
  })
