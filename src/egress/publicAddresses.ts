/**
 * The rules for addresses that clients and vendors name: the gateway connects only to the public
 * internet.
 */
import { Option } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import {
  ipAddressOf,
  ipAddressOfHost,
  isLinkLocal,
  isLinkLocalHost
} from "../domain/catalog/linkLocal.ts"

/**
 * The IPv4 networks of IANA's special-purpose registry. The last network covers multicast and the
 * reserved range at the end of the address space.
 */
const specialNetworks4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3"
].map(IpNetwork.fromStringUnsafe)

/** The IPv6 range allocated for the internet, which excludes translated and mapped addresses. */
const globalUnicast6 = IpNetwork.fromStringUnsafe("2000::/3")
const specialNetworks6 = [
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "2620:4f:8000::/48",
  "3fff::/20"
].map(IpNetwork.fromStringUnsafe)

const isPublicIp = (address: NetAddress.IpAddress): boolean => {
  const isIn = (network: IpNetwork.IpNetwork) => IpNetwork.contains(network, address)
  return NetAddress.isIpv4Address(address)
    ? !specialNetworks4.some(isIn)
    : isIn(globalUnicast6) && !specialNetworks6.some(isIn)
}

/**
 * Whether an IP address is public. Loopback, private, link-local, metadata, multicast and all other
 * special addresses are not public. An IPv4 address that is mapped into IPv6 is judged as the IPv4
 * address.
 */
export const isPublicAddress = (text: string): boolean =>
  !isLinkLocal(text) &&
  Option.exists(ipAddressOf(text), (address) => isPublicIp(NetAddress.toCanonical(address)))

const isLocalName = (host: string): boolean => /(^|\.)localhost\.?$/.test(host)

export interface AddressRules {
  /** Whether private addresses and unencrypted HTTP are allowed, as on a local machine. */
  readonly allowPrivate: boolean
}

/**
 * The fault that the text of a URL reveals without a connection; null if there is none. The address
 * behind a host name is checked when the connection is made, because the name may resolve to
 * another address by then.
 */
export const faultOfUrl = (text: string, { allowPrivate }: AddressRules): string | null => {
  const url = URL.parse(text)
  if (url === null) return "must be a URL such as https://example.com/hooks"
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    return "must begin with https://"
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password"
  const isPrivate =
    isLocalName(url.hostname) ||
    isLinkLocalHost(text) ||
    Option.exists(
      ipAddressOfHost(url.hostname),
      (address) => !isPublicAddress(NetAddress.formatIp(address))
    )
  return isPrivate && !allowPrivate ? "must lead to a public address" : null
}
