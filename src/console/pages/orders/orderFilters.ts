/**
 * The filters of a list, stored in the page's address, so that the page can be reloaded and shared.
 */
import { Option, Schema } from "effect"
import { useSearchParams } from "wouter"
import { Modality } from "../../../domain/catalog/Modality.ts"
import { publicStates } from "../../../domain/taskStates.ts"
import { useAddressFilters } from "../../parts/addressFilters.ts"

const text = Schema.optionalKey(Schema.NonEmptyString)
const day = Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/)))

export const TAG = /^[^=]+=/
export const DIGEST = /^[0-9a-f]{12}$/

const ownFilters = {
  state: Schema.optionalKey(Schema.Literals(publicStates)),
  model: text,
  modality: Schema.optionalKey(Modality),
  tag: Schema.optionalKey(Schema.String.check(Schema.isPattern(TAG))),
  from: day,
  to: day
}
export const OwnFilters = Schema.Struct(ownFilters)
export const AllFilters = Schema.Struct({
  ...ownFilters,
  organization_id: text,
  member_id: text,
  key_id: text,
  channel: text,
  price_list: text,
  upstream_id: text,
  prompt_digest: Schema.optionalKey(Schema.String.check(Schema.isPattern(DIGEST)))
})

export type FilterName = keyof typeof AllFilters.Type

/** A change of filters; null removes a filter. */
export type FilterChange = { readonly [Name in FilterName]?: string | null }

export interface OrderFilters {
  readonly value: (name: FilterName) => string
  readonly change: (changes: FilterChange) => void
  /** Sets these filters and removes all others. */
  readonly replaceAll: (changes: FilterChange) => void
  readonly isAny: boolean
}

/** The filters in the address; `organizationId` limits the list to one organisation. */
export const useOrderFilters = (organizationId?: string): OrderFilters => {
  const { get, set, replaceAll, isAny } = useAddressFilters()
  return {
    value: (name) =>
      name === "organization_id" && organizationId !== undefined ? organizationId : get(name),
    change: set,
    replaceAll,
    isAny
  }
}

/** The filters in the address; none where the address contains an invalid value. */
export const useFilters = <S extends Schema.ConstraintDecoder<object>>(
  schema: S
): S["Type"] | Record<never, never> => {
  const [params] = useSearchParams()
  return Option.getOrElse(
    Schema.decodeUnknownOption(schema)(Object.fromEntries(params)),
    () => ({})
  )
}
