/** Organisations, members and keys, as operators see and change them. Amounts are nano-units. */
import { Context, type Effect, Schema } from "effect"
import type { InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { Scope } from "../Access.ts"

export const OrganizationRecord = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  balanceNano: Schema.BigInt,
  heldNano: Schema.BigInt,
  /** The total amount by which the charges of open orders may exceed their holds. */
  uncoveredNano: Schema.BigInt,
  /** The credit limit: how far charges above their holds may take the balance below zero. */
  creditNano: Schema.BigInt,
  /** Whether holds may use the credit as well. */
  holdsOnCredit: Schema.Boolean,
  /**
   * The low-balance threshold: a balance below it sends the webhook `balance.low`; null turns this
   * off.
   */
  lowNano: Schema.NullOr(Schema.BigInt),
  /** Why the ledger's audit has stopped the organisation's spending; null where it has not. */
  stoppedReason: Schema.NullOr(Schema.String),
  /**
   * Whether orders ask for the vendor's mark when the client does not set one; null means the
   * gateway's default.
   */
  watermark: Schema.NullOr(Schema.Boolean),
  /** The id of its price list; null where it pays the catalog's prices. */
  priceListId: Schema.NullOr(Schema.String),
  createdAt: Schema.Date,
  disabledAt: Schema.NullOr(Schema.Date)
})
export type OrganizationRecord = typeof OrganizationRecord.Type

export const MemberRecord = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  name: Schema.String,
  capNano: Schema.NullOr(Schema.BigInt),
  /** The charges of the current calendar month. */
  capturedNano: Schema.BigInt,
  heldNano: Schema.BigInt,
  createdAt: Schema.Date,
  disabledAt: Schema.NullOr(Schema.Date)
})
export type MemberRecord = typeof MemberRecord.Type

export const KeyRecord = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  memberId: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  models: Schema.NullOr(Schema.Array(Schema.String)),
  requestsPerMinute: Schema.NullOr(Schema.Int),
  createdAt: Schema.Date,
  expiresAt: Schema.NullOr(Schema.Date),
  revokedAt: Schema.NullOr(Schema.Date)
})
export type KeyRecord = typeof KeyRecord.Type

/** Fields that are left out or undefined stay unchanged. */
interface AccountChange {
  readonly name?: string | undefined
  readonly enabled?: boolean | undefined
}

export interface OrganizationChange extends AccountChange {
  readonly creditNano?: bigint | undefined
  readonly holdsOnCredit?: boolean | undefined
  readonly watermark?: boolean | null | undefined
}

export interface MemberChange extends AccountChange {
  readonly monthlyCapNano?: bigint | null | undefined
}

type KeyField = "name" | "scopes" | "models" | "requestsPerMinute" | "expiresAt"

/** Fields that are left out or undefined stay unchanged. */
export type KeyChange = { readonly [Field in KeyField]?: KeyRecord[Field] | undefined }

/** A filter; null fields match every value. */
interface NameFilter {
  /** A case-insensitive prefix of the name. */
  readonly name: string | null
}

export interface OrganizationFilter extends NameFilter {
  readonly enabled: boolean | null
  /** Whether the balance is below the low-balance alert; without an alert it is not. */
  readonly hasLowBalance: boolean | null
}

export interface MemberFilter extends NameFilter {
  readonly enabled: boolean | null
  readonly organizationId: string | null
}

export interface KeyFilter extends NameFilter {
  readonly organizationId: string | null
  readonly memberId: string | null
  /** Whether the key is revoked. Expired keys do not count as revoked. */
  readonly revoked: boolean | null
}

/** Sums over every organisation that matches a filter, not only those of a page. */
export const OrganizationTotals = Schema.Struct({
  count: Schema.Int,
  balanceNano: Schema.BigIntFromString,
  heldNano: Schema.BigIntFromString
})
export type OrganizationTotals = typeof OrganizationTotals.Type

export const MemberTotals = Schema.Struct({
  count: Schema.Int,
  /** The charges of the current calendar month. */
  capturedNano: Schema.BigIntFromString,
  heldNano: Schema.BigIntFromString
})
export type MemberTotals = typeof MemberTotals.Type

export const KeyTotals = Schema.Struct({ count: Schema.Int })
export type KeyTotals = typeof KeyTotals.Type

type PageEffect<A> = Effect.Effect<Page<A>, InvalidRequest>
type FindEffect<A> = Effect.Effect<A, NotFound>

/** Lists are newest first. Changes take effect on every gateway within a second. */
export class Accounts extends Context.Service<
  Accounts,
  {
    organizations(filter: OrganizationFilter, page: PageRequest): PageEffect<OrganizationRecord>
    organizationTotals(filter: OrganizationFilter): Effect.Effect<OrganizationTotals>
    organization(id: string): FindEffect<OrganizationRecord>
    /**
     * Changes an organisation. While an organisation is disabled, its keys are refused; its open
     * orders still finish.
     */
    changeOrganization(id: string, change: OrganizationChange): FindEffect<OrganizationRecord>
    /**
     * Puts an organisation on a price list, or on none. Its open orders keep the price of their
     * hold. Fails with `InvalidRequest` for a list that does not exist.
     */
    setPriceList(
      id: string,
      priceListId: string | null
    ): Effect.Effect<void, NotFound | InvalidRequest>
    members(filter: MemberFilter, page: PageRequest): PageEffect<MemberRecord>
    memberTotals(filter: MemberFilter): Effect.Effect<MemberTotals>
    member(id: string): FindEffect<MemberRecord>
    /** Changes a member. A lower cap limits new orders only; open orders still finish. */
    changeMember(id: string, change: MemberChange): FindEffect<MemberRecord>
    keys(filter: KeyFilter, page: PageRequest): PageEffect<KeyRecord>
    keyTotals(filter: KeyFilter): Effect.Effect<KeyTotals>
    key(id: string): FindEffect<KeyRecord>
    changeKey(id: string, change: KeyChange): FindEffect<KeyRecord>
  }
>()("gateway/services/Accounts") {}
