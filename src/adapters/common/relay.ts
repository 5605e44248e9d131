/** The relay behind vp_c and ip_c: one host and key, its families under a first path segment. */
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
 * The relay's own errors, also as a bare text. Only the status proves a refusal: its codes also occur in
 * answers of success, where it is unknown whether the vendor behind it began.
 */
export const relayRefusals = refusalTable([errorObjectShape, errorTextShape, flatNumberShape], {
  rate_limit_exceeded: meanings.rate,
  too_many_requests: meanings.rate
})

/** An error from the relay may be its own or that of the vendor behind it. */
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
 * Paths that operators write behind the host: the version of the relay's chat interface or of a vendor
 * behind it, also with the family's segment.
 */
const versions = ["", ...Object.values(segments).map((segment) => `/${segment}`)]
  .flatMap((family) => ["/api/v1", "/ent/v2", "/v1"].map((version) => `${family}${version}`))
  .toSorted((one, other) => other.length - one.length)

/** The account with the base address of one family. */
export const familyAccount = (account: ChannelAccount, family: RelayFamily): ChannelAccount => ({
  ...account,
  baseUrl: `${rootOf(account, ...versions)}/${segments[family]}`
})
