/** Keeps what a client sent out of what a vendor says about it. */
import { storable } from "./plainText.ts"

/** Shorter runs of characters are words that anybody may use. */
const RUN = 12
const SHORTEST = 6
const MAX_LENGTH = 300
const MAX_SENT = 20_000
const MASK = "[…]"

/** Addresses may be signed, and long runs without a space are keys or encoded media. */
const hideOpaque = (said: string): string =>
  said.replace(/\b(?:https?|data):[^\s"'<>]+/gi, MASK).replace(/[A-Za-z0-9+/_=%-]{64,}/g, MASK)

const spellings = (sent: string): ReadonlyArray<string> => {
  const text = sent.slice(0, MAX_SENT).toWellFormed()
  return [...new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)])]
}

/** Length of the longest piece of `ours` that stands at `at`; 0 when none is long enough. */
const echoAt = (said: string, at: number, ours: string): number => {
  let length = Math.min(RUN, ours.length)
  if (length < SHORTEST || at + length > said.length) return 0
  if (!ours.includes(said.slice(at, at + length))) return 0
  while (at + length < said.length && ours.includes(said.slice(at, at + length + 1))) length += 1
  return length
}

/**
 * The first 300 characters of a vendor's words, with every piece masked that repeats a text of
 * ours, also JSON-quoted or percent-encoded, and with addresses and encoded data masked.
 */
export const withoutEchoes = (said: string, sent: ReadonlyArray<string>): string => {
  const text = hideOpaque(storable(said)).slice(0, MAX_LENGTH)
  const ours = sent.flatMap(spellings)
  let kept = ""
  for (let at = 0; at < text.length; ) {
    const echoed = Math.max(0, ...ours.map((one) => echoAt(text, at, one)))
    if (echoed === 0) {
      kept += text[at]
      at += 1
    } else {
      kept += kept.endsWith(MASK) ? "" : MASK
      at += echoed
    }
  }
  return kept.toWellFormed()
}
