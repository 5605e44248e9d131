/**
 * The origin of a base address: scheme, host and port, normalized as browsers do. Other spellings
 * of the same origin (capitals, a default port, an internationalised name) are therefore equal. A
 * host with a dot at its end is a different origin: resolvers may distinguish the two.
 */

/** The origin of a base address; null if the address cannot be parsed. */
export const originOf = (baseUrl: string): string | null => URL.parse(baseUrl)?.origin ?? null
