/** Clients by their address, for bounds on what comes without a key. */
import { isIPv6 } from "node:net"

/**
 * Who counts as one client where nothing else is known: a client of IPv4 has one address, and one of IPv6 all that
 * begin with the same 64 bits.
 */
export const clientOf = (address: string | undefined): string => {
  if (address === undefined) return "none"
  const embedded = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (embedded !== undefined || !isIPv6(address)) return embedded ?? address
  const [head = "", tail] = address.split("%", 1).join("").split("::")
  const first = head === "" ? [] : head.split(":")
  const last = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0")
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":").toLowerCase()}::/64`
}
