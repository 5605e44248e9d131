/** Operators administer the gateway. Each operator has a token and a role. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import { InvalidApiKey, type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import type { LookUpGuard } from "../bearerTokens.ts"

/**
 * The roles of operators, which decide what an operator may write: `owner` everything; `operator`
 * catalog, channels, tasks and accounts; `finance` money; `viewer` nothing. Every role may read
 * everything.
 */
export const Role = Schema.Literals(["owner", "operator", "finance", "viewer"])
export type Role = typeof Role.Type

/** The operator who makes a request. */
export interface Operator {
  /** The operator's id; null for the token of the configuration. */
  readonly id: string | null
  readonly name: string
  readonly role: Role
}

/**
 * The operator who holds GATEWAY_ADMIN_TOKEN. This token is not stored in the database, so it
 * cannot be revoked through this service.
 */
export const rootOperator: Operator = { id: null, name: "GATEWAY_ADMIN_TOKEN", role: "owner" }

export const OperatorRecord = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  role: Role,
  createdAt: Schema.Date,
  revokedAt: Schema.NullOr(Schema.Date)
})
export type OperatorRecord = typeof OperatorRecord.Type

/** Fields that are left out stay unchanged. */
export interface OperatorChange {
  readonly name?: string
  readonly role?: Role
}

/** All invalid tokens get the same error, so that the error does not show which tokens exist. */
export const refusedToken = new InvalidApiKey({ message: "The admin token is missing or wrong" })

export const noSuchOperator = new NotFound({ message: "No such operator" })

export class Operators extends Context.Service<
  Operators,
  {
    /**
     * Finds the operator of a token. A missing, malformed, unknown or revoked token gets the same
     * error.
     */
    authenticate<E = never>(
      token: Redacted.Redacted,
      guard?: LookUpGuard<E>
    ): Effect.Effect<Operator, InvalidApiKey | E>
    /**
     * Creates an operator and returns its token, which cannot be read again: only its hash is
     * stored.
     */
    create(operator: {
      readonly name: string
      readonly role: Role
    }): Effect.Effect<{ readonly record: OperatorRecord; readonly token: Redacted.Redacted }>
    /** Lists newest first, including revoked operators. */
    list(page: PageRequest): Effect.Effect<Page<OperatorRecord>, InvalidRequest>
    find(id: string): Effect.Effect<OperatorRecord, NotFound>
    /** Changes an operator. The change takes effect on every gateway within a second. */
    change(id: string, change: OperatorChange): Effect.Effect<OperatorRecord, NotFound>
    /**
     * Revokes the operator's token. The revocation takes effect on every gateway within a second; a
     * repeat changes nothing.
     */
    revoke(id: string): Effect.Effect<OperatorRecord, NotFound>
  }
>()("gateway/services/Operators") {}
