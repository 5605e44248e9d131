/** Organisations, members and API keys: who may call what. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import { InvalidApiKey, type NotFound, PermissionDenied } from "../domain/Errors.ts"
import type { LookUpGuard } from "./bearerTokens.ts"

/** What a key may do; each route names the one it needs. */
export const Scope = Schema.Literals([
  "models",
  "videos",
  "images",
  "chat",
  "embeddings",
  "usage",
  "webhooks",
  "statements"
])
export type Scope = typeof Scope.Type

export const allScopes: ReadonlyArray<Scope> = Scope.literals

/**
 * Those of a key that is made without any. Statements tell what all of an organisation's members
 * ordered, which no key sees unless it is meant to.
 */
export const usualScopes: ReadonlyArray<Scope> = allScopes.filter((scope) => scope !== "statements")

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
  /** What an operator has disabled, its organisation or its member; the key opens nothing meanwhile. */
  readonly disabled?: "organisation" | "member" | null
}

/** `oneOf` is what a route asks for; none where no key opens it. */
export const lacksScope = (caller: Caller, oneOf: ReadonlyArray<Scope>): PermissionDenied =>
  new PermissionDenied({
    message:
      `This key does not have the scope ${oneOf.join(" or ") || "of this route"}; ` +
      `it has ${[...caller.scopes].join(", ")}`
  })

/** Its holder is told, who may ask the operator. */
export const disabledCaller = (disabled: NonNullable<Caller["disabled"]>): PermissionDenied =>
  new PermissionDenied({ message: `The ${disabled} of this key is disabled` })

export interface NewKey {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly models: ReadonlyArray<string> | null
  readonly expiresAt: Date | null
  /** Null or absent is the gateway's default. */
  readonly requestsPerMinute?: number | null
}

export class Access extends Context.Service<
  Access,
  {
    /** One error for a missing, malformed, unknown, revoked or expired key. */
    authenticate<E = never>(
      key: Redacted.Redacted,
      guard?: LookUpGuard<E>
    ): Effect.Effect<Caller, InvalidApiKey | E>
    /**
     * What of a member an operator has disabled, as its keys know it; a member that is not there is.
     * Changes count on every gateway within a second.
     */
    standing(organizationId: string, memberId: string): Effect.Effect<Caller["disabled"]>
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

/** The one answer to every key that opens nothing. */
export const refusedKey = new InvalidApiKey({
  message: "The API key is missing or not valid. Send it as: Authorization: Bearer <API_KEY>"
})
