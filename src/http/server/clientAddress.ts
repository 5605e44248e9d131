/**
 * Identifies clients by their address, for the limits on requests and connections without an API
 * key.
 */
import { Option } from "effect"
import { NetAddress } from "effect/net"
import { ipAddressOf } from "../../domain/catalog/linkLocal.ts"

/**
 * The client of an address. An IPv4 client has one address; an IPv6 client has all addresses with
 * the same first 64 bits.
 */
export const clientOf = (address: string | undefined): string => {
  if (address === undefined) return "none"
  const ipAddress = ipAddressOf(address)
  if (Option.isNone(ipAddress)) return address
  const canonical = NetAddress.toCanonical(ipAddress.value)
  if (NetAddress.isIpv4Address(canonical)) return NetAddress.formatIp(canonical)
  const prefix = NetAddress.ipv6ToSegments(canonical).slice(0, 4)
  return `${prefix.map((segment) => segment.toString(16)).join(":")}::/64`
}
