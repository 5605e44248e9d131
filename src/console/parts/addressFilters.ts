/** The filters of a page, stored in its address, so that the page can be reloaded and shared. */
import { useSearch } from "wouter"
import { navigate } from "wouter/use-browser-location"

export interface AddressFilters {
  /** The value of a filter; empty where the address does not contain it. */
  readonly get: (name: string) => string
  /** Changes filters; empty values are removed from the address. */
  readonly set: (changes: Changes) => void
  /** Sets these filters and removes all others. */
  readonly replaceAll: (changes: Changes) => void
  readonly isAny: boolean
}

type Changes = Readonly<Record<string, string | null>>

const navigateWith = (search: string, changes: Changes): void => {
  const { pathname } = window.location
  const nextParams = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") nextParams.delete(name)
    else nextParams.set(name, value)
  }
  // The path is kept unchanged, so that the open page is not loaded again.
  navigate(nextParams.size === 0 ? pathname : `${pathname}?${nextParams}`, { replace: true })
}

const set = (changes: Changes): void => navigateWith(window.location.search, changes)
const replaceAll = (changes: Changes): void => navigateWith("", changes)

export const useAddressFilters = (): AddressFilters => {
  const params = new URLSearchParams(useSearch())
  return { get: (name) => params.get(name) ?? "", set, replaceAll, isAny: params.size > 0 }
}

/** Returns the option that equals the text; the first option if none does. */
export const optionOf = <const Options extends readonly [string, ...ReadonlyArray<string>]>(
  text: string,
  options: Options
): Options[number] => options.find((option) => option === text) ?? options[0]
