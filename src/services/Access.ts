/** Organisations, members and API keys: who may call what. */
import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { Context, type Effect, Redacted, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { InvalidApiKey, type NotFound, PermissionDenied } from "../domain/Errors.ts"

/** What a key may do; each route names the one it needs. */
export const Scope = Schema.Literals([
  "models",
  "videos",
  "images",
  "chat",
  "embeddings",
  "usage",
  "webhooks"
])
export type Scope = typeof Scope.Type

export const allScopes: ReadonlyArray<Scope> = Scope.literals

/** The holder of a valid key. */
export interface Caller {
  readonly organizationId: string
  readonly memberId: string
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  /** Models the key may call; null is all. */
  readonly models: ReadonlySet<string> | null
  /** Requests a minute; null or absent is the gateway's default. */
  readonly requestsPerMinute?: number | null
}

/** `oneOf` is what a route asks for; none where no key opens it. */
export const lacksScope = (caller: Caller, oneOf: ReadonlyArray<Scope>): PermissionDenied =>
  new PermissionDenied({
    message:
      `This key does not have the scope ${oneOf.join(" or ") || "of this route"}; ` +
      `it has ${[...caller.scopes].join(", ")}`
  })

export interface NewKey {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly models: ReadonlyArray<string> | null
  readonly expiresAt: Date | null
  /** Null or absent is the gateway's default. */
  readonly requestsPerMinute?: number | null
}

/** Goes around the look-up of a key of which nothing is remembered, and may refuse it. */
export type LookUpGuard<E> = <A>(
  lookUp: Effect.Effect<A, InvalidApiKey>
) => Effect.Effect<A, InvalidApiKey | E>

export class Access extends Context.Service<
  Access,
  {
    /** One error for a missing, malformed, unknown, revoked or expired key. */
    authenticate<E = never>(
      key: Redacted.Redacted,
      guard?: LookUpGuard<E>
    ): Effect.Effect<Caller, InvalidApiKey | E>
    /** A new organisation with an empty pool; answers its id. */
    createOrganization(name: string): Effect.Effect<string>
    createMember(
      organizationId: string,
      member: { readonly name: string; readonly monthlyCapNano: bigint | null }
    ): Effect.Effect<string, NotFound>
    /** The key is readable here and never again: only its hash is stored. */
    createKey(
      memberId: string,
      key: NewKey
    ): Effect.Effect<{ readonly id: string; readonly key: Redacted.Redacted }, NotFound>
    /** Takes effect on every gateway within a second. */
    revokeKey(id: string): Effect.Effect<void, NotFound>
    organization(
      id: string
    ): Effect.Effect<{ readonly id: string; readonly name: string }, NotFound>
    /** True before the first organisation exists. */
    readonly isEmpty: Effect.Effect<boolean>
  }
>()("gateway/services/Access") {}

/**
 * The text of an API key is `mg_`, 256 random bits, and a checksum that tells a mistyped key from an
 * unknown one without asking the database.
 */
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
