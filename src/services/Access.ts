/** Access control: organisations, members and API keys. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import { InvalidApiKey, type NotFound, PermissionDenied } from "../domain/Errors.ts"
import type { LookUpGuard } from "./bearerTokens.ts"
import type { NewBudget } from "./money/Budgets.ts"

/** The permissions of API keys; each route requires one of them. */
export const Scope = Schema.Literals([
  "models",
  "videos",
  "images",
  "chat",
  "embeddings",
  "rerank",
  "audio",
  "usage",
  "webhooks",
  "statements"
])
export type Scope = typeof Scope.Type

export const allScopes: ReadonlyArray<Scope> = Scope.literals

/**
 * The scopes of a key that is created without a list of scopes. The scope `statements` is left out,
 * because statements show the orders of all members of the organisation: a key has this scope only
 * where its creator listed it.
 */
export const usualScopes: ReadonlyArray<Scope> = allScopes.filter((scope) => scope !== "statements")

/** The holder of a valid key. */
export interface Caller {
  readonly organizationId: string
  readonly memberId: string
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  /** Models that the key may call; null means all models. */
  readonly models: ReadonlySet<string> | null
  /** Maximum number of requests a minute; null or absent means the gateway's default. */
  readonly requestsPerMinute?: number | null
  /**
   * Whether orders of the organisation ask for the vendor's mark when the client does not set one;
   * null or absent means the gateway's default.
   */
  readonly watermark?: boolean | null
  /** The price list of the organisation; null or absent where it pays the catalog's prices. */
  readonly priceList?: string | null
  /**
   * Whether the key has a budget of its own. Orders of such a key are never charged above their
   * hold, so that the key never spends more than its budget.
   */
  readonly hasBudget?: boolean
  /**
   * The largest hold that an order of this request may take, in nano-units; absent without a limit.
   * An order with a limit is never charged above its hold.
   */
  readonly orderLimitNano?: bigint
  /**
   * What an operator has disabled: the organisation or the member of the key; null or absent where
   * both are enabled. While one is disabled, every request with the key is refused.
   */
  readonly disabledOwner?: "organisation" | "member" | null
}

/**
 * The error for a key without a required scope. `oneOf` lists the scopes that the route accepts; it
 * is empty where no API key may call the route.
 */
export const lacksScope = (caller: Caller, oneOf: ReadonlyArray<Scope>): PermissionDenied =>
  new PermissionDenied({
    message:
      `This key does not have the scope ${oneOf.join(" or ") || "of this route"}; ` +
      `it has ${[...caller.scopes].join(", ")}`
  })

/**
 * The error for a disabled caller. The message says what is disabled, so that the holder of the key
 * can ask the operator.
 */
export const disabledCaller = (
  disabledOwner: NonNullable<Caller["disabledOwner"]>
): PermissionDenied =>
  new PermissionDenied({ message: `The ${disabledOwner} of this key is disabled` })

export interface NewKey {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly models: ReadonlyArray<string> | null
  readonly expiresAt: Date | null
  /** Maximum number of requests a minute; null or absent means the gateway's default. */
  readonly requestsPerMinute?: number | null
  /** The key's own budget; absent for a key without one. */
  readonly budget?: Pick<NewBudget, "period" | "amountNano" | "thresholds">
}

/** A key that was just created. */
export interface CreatedKey {
  readonly id: string
  readonly key: Redacted.Redacted
  readonly organizationId: string
  /** The id of the key's budget; null for a key without one. */
  readonly budgetId: string | null
}

export class Access extends Context.Service<
  Access,
  {
    /**
     * Finds the holder of a key. A missing, malformed, unknown, revoked or expired key gets the
     * same error.
     */
    authenticate<E = never>(
      key: Redacted.Redacted,
      guard?: LookUpGuard<E>
    ): Effect.Effect<Caller, InvalidApiKey | E>
    /**
     * Finds the holder of a key by the key's id, for a person whose session stands for the key. An
     * unknown, revoked or expired key gets the same error.
     */
    callerOf(organizationId: string, keyId: string): Effect.Effect<Caller, InvalidApiKey>
    /**
     * Returns what an operator has disabled: the organisation or the member; null where both are
     * enabled. An unknown member counts as a disabled member. Changes take effect on every gateway
     * within a second.
     */
    ownerState(organizationId: string, memberId: string): Effect.Effect<Caller["disabledOwner"]>
    /** Creates an organisation with an empty pool, and returns its id. */
    createOrganization(name: string): Effect.Effect<string>
    createMember(
      organizationId: string,
      member: { readonly name: string; readonly monthlyCapNano: bigint | null }
    ): Effect.Effect<string, NotFound>
    /**
     * Creates a key, together with its budget, and returns it. The key cannot be read again later,
     * because only its hash is stored.
     */
    createKey(memberId: string, key: NewKey): Effect.Effect<CreatedKey, NotFound>
    /** Revokes a key. The revocation takes effect on every gateway within a second. */
    revokeKey(id: string): Effect.Effect<void, NotFound>
    organization(
      id: string
    ): Effect.Effect<{ readonly id: string; readonly name: string }, NotFound>
    /** True until the first organisation is created. */
    readonly isEmpty: Effect.Effect<boolean>
  }
>()("gateway/services/Access") {}

/** All invalid keys get the same error, so that the error does not show which keys exist. */
export const refusedKey = new InvalidApiKey({
  message: "The API key is not valid: it is mistyped, unknown, revoked or expired"
})
