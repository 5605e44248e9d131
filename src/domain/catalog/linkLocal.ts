/** Addresses where clouds tell machines their secrets, which no vendor has. */

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

/** Metadata services that are not link-local: of Alibaba, Azure and Oracle. */
const metadata4: ReadonlySet<string> = new Set(["100.100.100.200", "168.63.129.16", "192.0.0.192"])

const isLinkLocal4 = (address: string): boolean =>
  /^169\.254\.\d+\.\d+$/.test(address) || metadata4.has(address)

/** The eight groups of an address in the form URLs bring it to, which shortens zeros to `::`. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [before = [], after = []] = address
    .split("::")
    .map((half) => half.split(":").flatMap((group) => (group === "" ? [] : [parseInt(group, 16)])))
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

/** Metadata services of Amazon, whose network is the first two groups, and of Google. */
const isMetadata6 = (address: string): boolean =>
  address.startsWith("fd00:ec2:") || address === "fd20:ce::254"

const isLinkLocal6 = (address: string): boolean => {
  const groups = groupsOf(address)
  const [first = 0, , , , , sixth, seventh = 0, eighth = 0] = groups
  // Of these networks the last 32 bits are an address of IPv4: compatible, mapped and translated.
  const isCompatible = groups.slice(0, 5).every((group) => group === 0) && sixth === 0
  const isMapped = address.startsWith("::ffff:")
  const isTranslated = address.startsWith("64:ff9b::")
  const bytes = [seventh >> 8, seventh & 0xff, eighth >> 8, eighth & 0xff]
  return (
    (first & 0xffc0) === 0xfe80 ||
    isMetadata6(address) ||
    ((isCompatible || isMapped || isTranslated) && isLinkLocal4(bytes.join(".")))
  )
}

/**
 * True when the host of a URL is a link-local address or one of a metadata service, in any spelling
 * that URLs have for it, or a known name of such a service.
 */
export const isLinkLocalHost = (url: string): boolean => {
  const host = URL.parse(url)?.hostname ?? ""
  return host.startsWith("[")
    ? isLinkLocal6(host.slice(1, -1))
    : isLinkLocal4(host) || names.has(host.replace(/\.+$/, ""))
}

/** The same for an address that a name leads to. */
export const isLinkLocal = (address: string): boolean => {
  const [withoutZone = ""] = address.split("%")
  return isLinkLocalHost(
    withoutZone.includes(":") ? `http://[${withoutZone}]` : `http://${address}`
  )
}
