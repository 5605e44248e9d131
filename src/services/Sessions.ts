/**
 * Sessions of people who signed in with the account of their company. A session is sent as a cookie
 * and opens `/admin/v1`, `/v1` or both, by the rules of the configuration that is in force.
 */
import { Context, type Effect, type Redacted } from "effect"
import { InvalidApiKey } from "../domain/Errors.ts"
import type { LookUpGuard } from "./bearerTokens.ts"
import type { Operator } from "./operators/Operators.ts"

/** A person as the identity provider describes them. */
export interface Person {
  /** Issuer and subject identify the account for ever; an e-mail address may change its owner. */
  readonly issuer: string
  readonly subject: string
  readonly name: string
  /** In lower case; null where the provider does not say that it has verified the address. */
  readonly email: string | null
  readonly groups: ReadonlyArray<string>
}

export interface Session {
  readonly id: string
  readonly person: Person
  readonly createdAt: Date
  readonly usedAt: Date
  /** The time at which the session ends if it is not used again. */
  readonly endsAt: Date
}

/** A valid session, with the rights that it has at this moment. */
export interface SignedIn {
  readonly session: Session
  /** The value that `x-csrf-token` must have in requests that change something. */
  readonly csrfToken: string
  /** The operator who the person is; null for a person without a role. */
  readonly operator: Operator | null
  /** The organisation and the key of the member who the person is; null for all others. */
  readonly member: { readonly organizationId: string; readonly keyId: string } | null
  /**
   * Notes that the session is in use. Returns the token that replaces the one of the request, from
   * time to time; else null.
   */
  readonly renew: Effect.Effect<Redacted.Redacted | null>
}

/** All invalid sessions get the same error, so that the error does not show which sessions exist. */
export const refusedSession = new InvalidApiKey({
  message: "The session has ended: sign in again"
})

/** The look-up of sessions; null where sign-in is not configured. */
export const Sessions = Context.Reference<{
  /** The name of the cookie that has the token of a session. */
  readonly cookieName: string
  /** The origin of the console's pages, such as `https://media.example.com`. */
  readonly origin: string
  /** Finds the session of a token. An unknown, ended or expired session gets the same error. */
  authenticate<E = never>(
    token: Redacted.Redacted,
    guard?: LookUpGuard<E>
  ): Effect.Effect<SignedIn, InvalidApiKey | E>
} | null>("gateway/services/Sessions", { defaultValue: () => null })
