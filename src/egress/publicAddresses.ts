/** Which addresses the gateway goes to where others say so: those of the public internet alone. */
import ipaddr from "ipaddr.js"
import { isLinkLocal, isLinkLocalHost } from "../domain/catalog/linkLocal.ts"

/** All that is handed out of IPv6 for the internet so far; translated and mapped addresses are not. */
const globalUnicast6 = ipaddr.IPv6.parseCIDR("2000::/3")

/**
 * False of loopback, private, link-local, metadata, multicast and every other special address, also
 * where one of IPv4 is written as one of IPv6.
 */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false
  // An address of IPv4 that is mapped counts as what it stands for.
  const address = ipaddr.process(text)
  if (address.range() !== "unicast" || isLinkLocal(address.toString())) return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast6)
}

/** The address that stands in a URL itself; null where a name does. */
const literalOf = (host: string): string | null => {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host
  return ipaddr.isValid(bare) ? bare : null
}

const isLocalName = (host: string): boolean => /(^|\.)localhost\.?$/.test(host)

export interface AddressRules {
  /** Any address, and without encryption: for a machine of one's own. */
  readonly allowPrivate: boolean
}

/**
 * What is wrong with a URL by itself; null where only the connection will tell. A name is looked up
 * when the connection is made, as it may lead elsewhere by then.
 */
export const faultOfUrl = (text: string, { allowPrivate }: AddressRules): string | null => {
  const url = URL.parse(text)
  if (url === null) return "must be a URL such as https://example.com/hooks"
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    return "must begin with https://"
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password"
  const literal = literalOf(url.hostname)
  const isPrivate =
    isLocalName(url.hostname) ||
    isLinkLocalHost(text) ||
    (literal !== null && !isPublicAddress(literal))
  return isPrivate && !allowPrivate ? "must lead to a public address" : null
}
