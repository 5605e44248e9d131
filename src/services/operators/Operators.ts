/** Operators run the gateway, each with a token and a role of their own. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import { InvalidApiKey, type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import type { LookUpGuard } from "../bearerTokens.ts"

/**
 * What an operator may write: `owner` everything; `operator` catalog, channels, tasks and accounts;
 * `finance` money; `viewer` nothing. Every role may read.
 */
export const Role = Schema.Literals(["owner", "operator", "finance", "viewer"])
export type Role = typeof Role.Type

/** The operator who makes a request. */
export interface Operator {
  /** Null for the token of the configuration. */
  readonly id: string | null
  readonly name: string
  readonly role: Role
}

/** The holder of GATEWAY_ADMIN_TOKEN, which is not stored and cannot be revoked here. */
export const rootOperator: Operator = { id: null, name: "GATEWAY_ADMIN_TOKEN", role: "owner" }

export const OperatorRecord = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  role: Role,
  createdAt: Schema.Date,
  revokedAt: Schema.NullOr(Schema.Date)
})
export type OperatorRecord = typeof OperatorRecord.Type

/** A field that is left out stays as it is. */
export interface OperatorChange {
  readonly name?: string
  readonly role?: Role
}

/** All tokens that open nothing get the same answer, so that it tells nothing about them. */
export const refusedToken = new InvalidApiKey({ message: "The admin token is missing or wrong" })

export const noSuchOperator = new NotFound({ message: "No such operator" })

export class Operators extends Context.Service<
  Operators,
  {
    /** One error for a missing, malformed, unknown or revoked token. */
    authenticate<E = never>(
      token: Redacted.Redacted,
      guard?: LookUpGuard<E>
    ): Effect.Effect<Operator, InvalidApiKey | E>
    /** The token is readable here and never again: only its hash is stored. */
    create(operator: {
      readonly name: string
      readonly role: Role
    }): Effect.Effect<{ readonly record: OperatorRecord; readonly token: Redacted.Redacted }>
    /** Newest first, including the revoked ones. */
    list(page: PageRequest): Effect.Effect<Page<OperatorRecord>, InvalidRequest>
    find(id: string): Effect.Effect<OperatorRecord, NotFound>
    /** Takes effect on every gateway within a second. */
    change(id: string, change: OperatorChange): Effect.Effect<OperatorRecord, NotFound>
    /** Takes effect on every gateway within a second; a repeat changes nothing. */
    revoke(id: string): Effect.Effect<OperatorRecord, NotFound>
  }
>()("gateway/services/Operators") {}
