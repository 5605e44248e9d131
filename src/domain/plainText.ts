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

/**
 * The maximum length of a prompt, far beyond every vendor's limit; in UTF-16 units, as clients
 * count.
 */
export const MAX_PROMPT = 100_000

/** A prompt in the client's own words. */
export const Prompt = Schema.String.check(
  Schema.isMaxLength(MAX_PROMPT, { expected: `a text of at most ${MAX_PROMPT} characters` })
)

/** Whether PostgreSQL can store a text, or look for one: nothing is stored under any other. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000")

/** Makes a vendor's text storable: removes NUL, and replaces each lone surrogate by U+FFFD. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\u0000", "")

/** A vendor's job id, which the gateway can store and can send again as one segment of a path. */
export const JobId = plainText(512).check(
  Schema.isPattern(/^(?!\.{1,2}$)/, { expected: "an id that is no step of a path" })
)

/** A URL from which a client can load a video or an image. */
export const WebAddress = Schema.String.check(
  Schema.makeFilter((text) => /^https?:\/\//i.test(text) && URL.canParse(text), {
    expected: "an http or https URL"
  })
)
