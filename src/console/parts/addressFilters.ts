/** The filters of a page, stored in its address, so that the page can be reloaded and shared. */
import { useSearch } from "wouter"
import { navigate } from "wouter/use-browser-location"

export interface AddressFilters {
  /** The value of a filter; empty where the address does not contain it. */
  readonly get: (name: string) => string
  /** Changes filters; empty values are removed from the address. */
  readonly set: (changes: Changes) => void
  /** Sets these filters and removes all others. */
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
  // The path is kept unchanged, so that the open page is not loaded again.
  navigate(next.size === 0 ? pathname : `${pathname}?${next}`, { replace: true })
}

const set = (changes: Changes): void => put(window.location.search, changes)
const only = (changes: Changes): void => put("", changes)

export const useAddressFilters = (): AddressFilters => {
  const params = new URLSearchParams(useSearch())
  return { get: (name) => params.get(name) ?? "", set, only, isAny: params.size > 0 }
}

/** Returns the option that equals the text; the first option if none does. */
export const wordOf = <const Words extends readonly [string, ...ReadonlyArray<string>]>(
  text: string,
  words: Words
): Words[number] => words.find((word) => word === text) ?? words[0]
