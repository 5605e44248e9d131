/**
 * The text of an API key: `mg_`, 256 random bits, and a checksum that tells a mistyped key from an
 * unknown one without asking the database.
 */

import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { Redacted } from "effect"
import { Base64Url } from "effect/encoding"
import { InvalidApiKey } from "../domain/Errors.ts"

export const API_KEY_BYTES = 32

/** The one answer to every key that opens nothing. */
export const refusedKey = new InvalidApiKey({
  message: "The API key is missing or not valid. Send it as: Authorization: Bearer <API_KEY>"
})

const pattern = /^mg_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/

const checksum = (body: string) => crc32(body).toString(16).padStart(8, "0")

/** Formats `API_KEY_BYTES` random bytes. */
export const formatApiKey = (bytes: Uint8Array): Redacted.Redacted => {
  const body = Base64Url.encode(bytes)
  return Redacted.make(`mg_${body}${checksum(body)}`)
}

/**
 * What is stored of a key and looked up: SHA-256 of its text, in hexadecimal. Nobody guesses 256
 * random bits, so the hash needs neither a secret nor a salt.
 */
export const apiKeyHash = (key: Redacted.Redacted): string =>
  hash("sha256", Redacted.value(key), "hex")

/** True when prefix, length and checksum are those of a key this service made. */
export const isWellFormedApiKey = (key: Redacted.Redacted): boolean => {
  const match = pattern.exec(Redacted.value(key))
  return match?.[1] !== undefined && checksum(match[1]) === match[2]
}
