/**
 * Tokens: API keys of customers (`mg_`), tokens of operators (`mgo_`) and sessions of people who
 * signed in (`mgs_`), which are sent as a cookie and never as a bearer token. The prefix is
 * followed by 256 random bits and a checksum, which detects a mistyped token without a database
 * query.
 */
import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { type Effect, Redacted } from "effect"
import { Base64Url } from "effect/encoding"
import type { InvalidApiKey } from "../domain/Errors.ts"

export const TOKEN_BYTES = 32

export type TokenPrefix = "mg_" | "mgo_" | "mgs_"

const pattern = /^(mg[os]?_)([A-Za-z0-9_-]{43})([0-9a-f]{8})$/

const checksum = (body: string) => crc32(body).toString(16).padStart(8, "0")

/** Formats `TOKEN_BYTES` random bytes as a token. */
export const formatToken = (prefix: TokenPrefix, bytes: Uint8Array): Redacted.Redacted => {
  const body = Base64Url.encode(bytes)
  return Redacted.make(`${prefix}${body}${checksum(body)}`)
}

/**
 * The stored form of a token: SHA-256 of its text, in hexadecimal. Nobody can guess 256 random
 * bits, so the hash needs neither a secret nor a salt.
 */
export const tokenHash = (token: Redacted.Redacted): string =>
  hash("sha256", Redacted.value(token), "hex")

/** True when prefix, length and checksum of the token are valid. */
export const isWellFormedToken = (prefix: TokenPrefix, token: Redacted.Redacted): boolean => {
  const match = pattern.exec(Redacted.value(token))
  return match?.[1] === prefix && match[2] !== undefined && checksum(match[2]) === match[3]
}

/**
 * A function that runs the database look-up of a token which is not cached, or refuses to run it.
 */
export type LookUpGuard<E> = <A>(
  lookUp: Effect.Effect<A, InvalidApiKey>
) => Effect.Effect<A, InvalidApiKey | E>
