/** What a page is filtered by, kept in its address, so that it can be loaded again and given to others. */
import { useSearch } from "wouter"
import { navigate } from "wouter/use-browser-location"

export interface AddressFilters {
  /** Empty where the address does not have it. */
  readonly get: (name: string) => string
  /** Empty values leave the address. */
  readonly set: (changes: Changes) => void
  /** Those alone, whatever there was before. */
  readonly only: (changes: Changes) => void
  readonly isAny: boolean
}

type Changes = Readonly<Record<string, string | null>>

const put = (before: string, changes: Changes): void => {
  const { pathname } = window.location
  const next = new URLSearchParams(before)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name)
    else next.set(name, value)
  }
  // The path stays as it is written: a page that was opened by it is not opened again.
  navigate(next.size === 0 ? pathname : `${pathname}?${next}`, { replace: true })
}

const set = (changes: Changes): void => put(window.location.search, changes)
const only = (changes: Changes): void => put("", changes)

export const useAddressFilters = (): AddressFilters => {
  const params = new URLSearchParams(useSearch())
  return { get: (name) => params.get(name) ?? "", set, only, isAny: params.size > 0 }
}

/** The one of these words that the text is, or the first of them. */
export const wordOf = <const Words extends readonly [string, ...ReadonlyArray<string>]>(
  text: string,
  words: Words
): Words[number] => words.find((word) => word === text) ?? words[0]
