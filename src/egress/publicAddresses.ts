/** Which addresses the gateway connects to where others name them: those of the public internet alone. */
import { Option } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import {
  ipAddressOf,
  ipAddressOfHost,
  isLinkLocal,
  isLinkLocalHost
} from "../domain/catalog/linkLocal.ts"

/** The IPv4 networks of IANA's special-purpose registry, multicast and the reserved end. */
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

/** All that is allocated of IPv6 for the internet; translated and mapped addresses are not in it. */
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
 * False of loopback, private, link-local, metadata, multicast and every other special address, also
 * where an IPv4 address is written as an IPv6 one: a mapped address counts as what it stands for.
 */
export const isPublicAddress = (text: string): boolean =>
  !isLinkLocal(text) &&
  Option.exists(ipAddressOf(text), (address) => isPublicIp(NetAddress.toCanonical(address)))

const isLocalName = (host: string): boolean => /(^|\.)localhost\.?$/.test(host)

export interface AddressRules {
  /** Any address, and without encryption: for a machine of one's own. */
  readonly allowPrivate: boolean
}

/**
 * What is wrong with a URL by itself; null where only the connection will tell. A name is looked up
 * when the connection is made, as it may resolve to another address by then.
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
