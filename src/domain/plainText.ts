/** Text that can be stored: PostgreSQL takes neither NUL nor half a surrogate pair. */
import { Schema } from "effect"

const DEFAULT_LENGTH = 200

/** One line of well-formed text, 1 to `maxLength` characters, without control characters. */
export const plainText = (maxLength = DEFAULT_LENGTH) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${maxLength}}$`, "u"), {
      expected: `a line of 1 to ${maxLength} characters, without control characters`
    })
  )

/** Far beyond what any vendor reads; in UTF-16 units, as clients count. */
export const MAX_PROMPT = 100_000

/** What a client asks for in its own words. */
export const Prompt = Schema.String.check(
  Schema.isMaxLength(MAX_PROMPT, { expected: `a text of at most ${MAX_PROMPT} characters` })
)

/** The same text with what cannot be stored left out: for words that come from a vendor. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\u0000", "")

/** A vendor's id of a job: something that can be kept, and asked for again as a part of a path. */
export const JobId = plainText(512).check(
  Schema.isPattern(/^(?!\.{1,2}$)/, { expected: "an id that is no step of a path" })
)

/** An address that a client can load a film or a picture from. */
export const WebAddress = Schema.String.check(
  Schema.makeFilter((text) => /^https?:\/\//i.test(text) && URL.canParse(text), {
    expected: "an http or https URL"
  })
)
