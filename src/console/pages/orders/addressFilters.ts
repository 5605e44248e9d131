/** What a list is filtered by stands in the page's address, so that it can be reloaded and sent to others. */
import { Option, Schema } from "effect"
import { useSearchParams } from "wouter"
import { Modality } from "../../../domain/catalog/Modality.ts"
import { publicStates } from "../../../domain/video/VideoTask.ts"

const text = Schema.optionalKey(Schema.NonEmptyString)
const day = Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/)))

export const TAG = /^[^=]+=/
export const DIGEST = /^[0-9a-f]{12}$/

const own = {
  state: Schema.optionalKey(Schema.Literals(publicStates)),
  model: text,
  modality: Schema.optionalKey(Modality),
  tag: Schema.optionalKey(Schema.String.check(Schema.isPattern(TAG))),
  from: day,
  to: day
}
export const OwnFilters = Schema.Struct(own)
export const AllFilters = Schema.Struct({
  ...own,
  organization_id: text,
  member_id: text,
  key_id: text,
  channel: text,
  upstream_id: text,
  prompt_digest: Schema.optionalKey(Schema.String.check(Schema.isPattern(DIGEST)))
})

export type FilterName = keyof typeof AllFilters.Type

/** Null takes a filter away. */
export type FilterChange = { readonly [Name in FilterName]?: string | null }

export interface AddressFilters {
  readonly value: (name: FilterName) => string
  readonly change: (changes: FilterChange) => void
  /** Those alone, whatever there was before. */
  readonly only: (changes: FilterChange) => void
  readonly isAny: boolean
}

export const useAddressFilters = (): AddressFilters => {
  const [params, setParams] = useSearchParams()
  const changed = (before: URLSearchParams, changes: FilterChange) => {
    const next = new URLSearchParams(before)
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") next.delete(name)
      else next.set(name, value)
    }
    return next
  }
  return {
    value: (name) => params.get(name) ?? "",
    change: (changes) => setParams((before) => changed(before, changes), { replace: true }),
    only: (changes) => setParams(changed(new URLSearchParams(), changes), { replace: true }),
    isAny: params.size > 0
  }
}

/** The filters that the address holds; none where it holds what no filter can be. */
export const useFilters = <S extends Schema.ConstraintDecoder<object>>(
  schema: S
): S["Type"] | Record<never, never> => {
  const [params] = useSearchParams()
  return Option.getOrElse(
    Schema.decodeUnknownOption(schema)(Object.fromEntries(params)),
    () => ({})
  )
}
