/**
 * The origin of a base address: scheme, host and port, normalized as browsers do. Other spellings
 * of the same origin (capitals, a default port, an internationalised name) are therefore equal. A
 * host with a dot at its end is a different origin: resolvers may distinguish the two.
 */

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether the host name of a URL is an address of this machine itself. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK.test(hostname)

/** The origin of a base address; null if the address cannot be parsed. */
export const originOf = (baseUrl: string): string | null => URL.parse(baseUrl)?.origin ?? null
