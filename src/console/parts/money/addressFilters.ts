/** What a page is filtered by, kept in its address, so that it can be loaded again and given to others. */
import { useSearchParams } from "wouter"

export interface AddressFilters {
  /** Empty where the address does not have it. */
  readonly get: (name: string) => string
  /** Empty values leave the address. */
  readonly set: (changes: Readonly<Record<string, string | null>>) => void
}

export const useAddressFilters = (): AddressFilters => {
  const [params, setParams] = useSearchParams()
  return {
    get: (name) => params.get(name) ?? "",
    set: (changes) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before)
          for (const [name, value] of Object.entries(changes)) {
            if (value === null || value === "") next.delete(name)
            else next.set(name, value)
          }
          return next
        },
        { replace: true }
      )
  }
}

/** The one of these words that the text is, or the first of them. */
export const wordOf = <const Words extends readonly [string, ...ReadonlyArray<string>]>(
  text: string,
  words: Words
): Words[number] => words.find((word) => word === text) ?? words[0]
