/** What a medium, an address and a credential look like in a text. */
import { Predicate } from "effect"

/** Replaces a credential. */
export const MASK = "[redacted]"

/** A text in plain form, in JSON that is quoted in a text, and percent-encoded. */
export const spellingsOf = (text: string): ReadonlyArray<string> => [
  ...new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())])
]

const address = /https?:\/\//i

/** True for a text that begins with an address of the web. */
export const startsWithAddress = (text: string): boolean => text.search(address) === 0

/** True for a text that contains such an address. */
export const holdsAddress = (text: string): boolean => address.test(text)

const MAX_ADDRESS = 300

/** An address without user, query and fragment, in which signatures stand; null when it is none. */
export const plainAddress = (url: string): string | null => {
  const parsed = URL.parse(url)
  return parsed === null ? null : `${parsed.origin}${parsed.pathname}`.slice(0, MAX_ADDRESS)
}

/** Addresses may be signed, and long runs without a space are keys or encoded media. */
export const maskOpaqueText = (text: string, mask: string): string =>
  text.replace(/\b(?:https?|data):[^\s"'<>]+/gi, mask).replace(/[A-Za-z0-9+/_=%-]{64,}/g, mask)

/** The beginning of every encoded medium; the slower `entireMedium` is tried only where it matches. */
const medium = /data:[\w.+/-]*[^,\s]{0,100},|[A-Za-z0-9+/]{1024}/i
const entireMedium = /(?:data:[\w.+/-]*[^,\s]{0,100},[A-Za-z0-9+/=_-]*|[A-Za-z0-9+/=]{1024,})/gi

/** The media in a text, as data URLs or in base64. */
export const mediaIn = (text: string): ReadonlyArray<string> =>
  medium.test(text) ? (text.match(entireMedium) ?? []) : []

const generatedMedium = /data:(?!image\/svg)[\w.+/-]*;base64,[\w+/=-]+|[A-Za-z0-9+/]{1024,}=*/gi

/** Media that a vendor may have generated: without icons, which pages have, and texts in data URLs. */
export const generatedMediaIn = (text: string): ReadonlyArray<string> =>
  text.match(generatedMedium) ?? []

/** True for a text that is a medium from its first character on. */
export const startsWithMedium = (text: string): boolean =>
  /^data:|^[A-Za-z0-9+/_=-]{1024}/i.test(text)

/** Longer texts in an answer are taken for media. */
const MAX_STORED_TEXT = 16 * 1024

/** True for JSON with text in it that the database should not keep: media, or as long as such. */
export const holdsLongText = (value: unknown): boolean => {
  if (typeof value === "string") return value.length > MAX_STORED_TEXT || medium.test(value)
  return Predicate.isObjectOrArray(value) && Object.values(value).some(holdsLongText)
}

const MARK = "\uE000long text of "
const markPattern = new RegExp(`^${MARK}(\\d+) bytes$`)

const dataUrl = /^data:([\w.+/-]{0,80})[^,]{0,100}?(;base64)?,/i
const base64Start = /^[A-Za-z0-9+/_-]{256}/

export interface Medium {
  /** Null where the text does not name it. */
  readonly type: string | null
  readonly content: string
  readonly encoding: "utf8" | "base64"
}

/** The parts of a text that is a medium; a shorter run than elsewhere will do, as only a record suffers. */
export const mediumOf = (text: string): Medium | null => {
  const data = dataUrl.exec(text)
  if (data !== null) {
    const [head, type = "", base64] = data
    const encoding = base64 === undefined ? "utf8" : "base64"
    return { type, content: text.slice(head.length), encoding }
  }
  return base64Start.test(text) ? { type: null, content: text, encoding: "base64" } : null
}

/** Replaces, in decoded JSON, a long text that was not decoded, such as a medium. */
export const markOf = (bytes: number): string => `${MARK}${bytes} bytes`

/** Bytes of the long text a mark stands for; null for any other text. */
export const markedBytes = (text: string): number | null => {
  const bytes = markPattern.exec(text)?.[1]
  return bytes === undefined ? null : Number(bytes)
}
