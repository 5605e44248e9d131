/**
 * The relay behind vp_c and ip_c, which has one host and one key. Each family has its own first
 * path segment.
 */
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import {
  errorObjectShape,
  errorTextShape,
  flatNumberShape,
  meanings,
  mergeRefusalTables,
  type RefusalTable,
  refusalTable
} from "../wire/refusalTable.ts"
import { rootOf } from "../wire/vendorRequest.ts"

/**
 * The relay's own errors, including errors that are a bare text. The table lists only the codes of
 * rate limits. All other errors are judged by their HTTP status, because their codes also occur in
 * 2xx answers, where the vendor behind the relay may have begun.
 */
export const relayRefusals = refusalTable([errorObjectShape, errorTextShape, flatNumberShape], {
  rate_limit_exceeded: meanings.rate,
  too_many_requests: meanings.rate
})

/**
 * The refusals of a vendor behind the relay: an error may come from the relay or from that vendor.
 */
export const relayedRefusals = (vendor: RefusalTable): RefusalTable =>
  mergeRefusalTables(vendor, relayRefusals)

/** The first path segment of each family. */
const segments: Readonly<Record<RelayFamily, string>> = {
  a: "doubao",
  d: "kling",
  e: "vidu",
  f: "qwen"
}

/**
 * Paths that a base address may have after the host, and that are removed: the version of the
 * relay's chat API or of a vendor's API behind it, with or without the family's segment.
 */
const versions = ["", ...Object.values(segments).map((segment) => `/${segment}`)]
  .flatMap((family) => ["/api/v1", "/ent/v2", "/v1"].map((version) => `${family}${version}`))
  .toSorted((one, other) => other.length - one.length)

/** The account with the base address of one family. */
export const familyAccount = (account: ChannelAccount, family: RelayFamily): ChannelAccount => ({
  ...account,
  baseUrl: `${rootOf(account, ...versions)}/${segments[family]}`
})
