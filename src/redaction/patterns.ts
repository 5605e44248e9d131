/** Patterns of media, addresses and credentials in a text. */
import { Predicate } from "effect"

/** The replacement of a credential. */
export const MASK = "[redacted]"

/** The encodings of a text: plain, JSON quoted in a text, and percent-encoded. */
export const spellingsOf = (text: string): ReadonlyArray<string> => [
  ...new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())])
]

const address = /https?:\/\//i

/** Whether a text begins with a web address. */
export const startsWithAddress = (text: string): boolean => text.search(address) === 0

/** Whether a text contains a web address. */
export const holdsAddress = (text: string): boolean => address.test(text)

const MAX_ADDRESS = 300

/**
 * An address without user, query and fragment, which may contain signatures; null if it is not an
 * address.
 */
export const plainAddress = (url: string): string | null => {
  const parsedUrl = URL.parse(url)
  return parsedUrl === null
    ? null
    : `${parsedUrl.origin}${parsedUrl.pathname}`.slice(0, MAX_ADDRESS)
}

/**
 * Masks addresses, which may be signed, and long runs without a space, which may be keys or encoded
 * media.
 */
export const maskOpaqueText = (text: string, mask: string): string =>
  text.replace(/\b(?:https?|data):[^\s"'<>]+/gi, mask).replace(/[A-Za-z0-9+/_=%-]{64,}/g, mask)

/**
 * Matches the beginning of every encoded medium; the slower `entireMedium` is used only after a
 * match.
 */
const medium = /data:[\w.+/-]*[^,\s]{0,100},|[A-Za-z0-9+/]{1024}/i
const entireMedium = /(?:data:[\w.+/-]*[^,\s]{0,100},[A-Za-z0-9+/=_-]*|[A-Za-z0-9+/=]{1024,})/gi

/** The media in a text, as data URLs or in base64. */
export const mediaIn = (text: string): ReadonlyArray<string> =>
  medium.test(text) ? (text.match(entireMedium) ?? []) : []

const generatedMedium = /data:(?!image\/svg)[\w.+/-]*;base64,[\w+/=-]+|[A-Za-z0-9+/]{1024,}=*/gi

/**
 * The media in a text that a vendor may have generated. Icons of web pages and text in data URLs
 * are excluded.
 */
export const generatedMediaIn = (text: string): ReadonlyArray<string> =>
  text.match(generatedMedium) ?? []

/** Whether a text begins with a medium. */
export const startsWithMedium = (text: string): boolean =>
  /^data:|^[A-Za-z0-9+/_=-]{1024}/i.test(text)

/** The maximum length of a text to store; longer texts in an answer count as media. */
const MAX_STORED_TEXT = 16 * 1024

/**
 * Whether a JSON value contains text that the database should not store: media, or text as long as
 * media.
 */
export const holdsLongText = (value: unknown): boolean => {
  if (typeof value === "string") return value.length > MAX_STORED_TEXT || medium.test(value)
  return Predicate.isObjectOrArray(value) && Object.values(value).some(holdsLongText)
}

const MARK = "\uE000long text of "
const markPattern = new RegExp(`^${MARK}(\\d+) bytes$`)

const dataUrl = /^data:([\w.+/-]{0,80})[^,]{0,100}?(;base64)?,/i
const base64Start = /^[A-Za-z0-9+/_-]{256}/

export interface Medium {
  /** The media type; null if the text does not state it. */
  readonly type: string | null
  readonly content: string
  readonly encoding: "utf8" | "base64"
}

/**
 * Parses a text that is a medium; null for any other text. 256 characters of base64 suffice here,
 * fewer than elsewhere, because a wrong guess would affect only a record.
 */
export const mediumOf = (text: string): Medium | null => {
  const data = dataUrl.exec(text)
  if (data !== null) {
    const [head, type = "", base64] = data
    const encoding = base64 === undefined ? "utf8" : "base64"
    return { type, content: text.slice(head.length), encoding }
  }
  return base64Start.test(text) ? { type: null, content: text, encoding: "base64" } : null
}

/** The placeholder in decoded JSON for a long text that was not decoded, such as a medium. */
export const markOf = (bytes: number): string => `${MARK}${bytes} bytes`

/** The number of bytes of the long text that a placeholder stands for; null for any other text. */
export const markedBytes = (text: string): number | null => {
  const bytes = markPattern.exec(text)?.[1]
  return bytes === undefined ? null : Number(bytes)
}
