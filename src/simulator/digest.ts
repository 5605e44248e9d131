import { createHash, randomInt, randomUUID } from "node:crypto"

export const sha256 = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex")

/**
 * A pseudorandom whole number from 0 up to but not including `below`; the same text always gives
 * the same number.
 */
export const numberFrom = (text: string, below: number): number =>
  Number.parseInt(sha256(text).slice(0, 8), 16) % below

/** A new request id, such as vendors return in responses and error messages. */
export const requestId = (): string => randomUUID()

/** `length` random characters of `alphabet`. */
export const randomText = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join("")
