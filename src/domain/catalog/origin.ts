/**
 * Where a base address leads: scheme, host and port, as the browser's rules for addresses write them, so
 * that other spellings of the same place (capitals, a default port, an internationalised name) are equal.
 * A host with a dot at its end is another one: resolvers may tell the two apart.
 */

/** Null for an address that leads nowhere. */
export const originOf = (baseUrl: string): string | null => URL.parse(baseUrl)?.origin ?? null
