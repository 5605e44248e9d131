/**
 * Link-local addresses and the metadata services of clouds, which hold a machine's secrets. No
 * vendor has such an address.
 */
import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const names: ReadonlySet<string> = new Set([
  "instance-data",
  "instance-data.ec2.internal",
  "metadata",
  "metadata.azure.internal",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.internal",
  "metadata.platformequinix.com",
  "metadata.tencentyun.com",
  "rancher-metadata"
])

/**
 * Link-local networks, and the metadata addresses of Alibaba, Azure, Oracle, Amazon and Google that
 * lie outside these networks.
 */
const linkLocalNetworks = [
  "169.254.0.0/16",
  "fe80::/10",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "fd00:ec2::/32",
  "fd20:ce::254/128"
].map(IpNetwork.fromStringUnsafe)

/** IPv6 networks whose last 32 bits are an IPv4 address: compatible, mapped and translated. */
const embeddingNetworks = ["::/96", "::ffff:0:0/96", "64:ff9b::/96"].map(IpNetwork.fromStringUnsafe)

const isInAny = (
  networks: ReadonlyArray<IpNetwork.IpNetwork>,
  address: NetAddress.IpAddress
): boolean => networks.some((network) => IpNetwork.contains(network, address))

const isLinkLocalAddress = (address: NetAddress.IpAddress): boolean =>
  isInAny(linkLocalNetworks, address) ||
  (NetAddress.isIpv6Address(address) &&
    isInAny(embeddingNetworks, address) &&
    isInAny(
      linkLocalNetworks,
      NetAddress.ipv4FromBytesUnsafe(Uint8Array.from(NetAddress.ipv6ToOctets(address).slice(12)))
    ))

/** Parses an IP address, with or without a zone (`fe80::1%eth0`); none for any other text. */
export const ipAddressOf = (text: string): Option.Option<NetAddress.IpAddress> =>
  Result.getSuccess(NetAddress.ipFromString(text.split("%", 1).join()))

/** The IP address in the host of a URL; none if the host is a name. */
export const ipAddressOfHost = (host: string): Option.Option<NetAddress.IpAddress> =>
  ipAddressOf(host.startsWith("[") ? host.slice(1, -1) : host)

/**
 * Whether the host of a URL is a link-local address or that of a metadata service, in any spelling
 * that URLs allow, or a known host name of such a service.
 */
export const isLinkLocalHost = (url: string): boolean => {
  const host = URL.parse(url)?.hostname ?? ""
  return Option.match(ipAddressOfHost(host), {
    onNone: () => names.has(host.replace(/\.+$/, "")),
    onSome: isLinkLocalAddress
  })
}

/**
 * Whether an IP address to which a host name resolves is link-local or that of a metadata service.
 */
export const isLinkLocal = (address: string): boolean =>
  Option.exists(ipAddressOf(address), isLinkLocalAddress)
