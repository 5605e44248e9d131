/** The relay behind vp_c and ip_c: one host and key, its families under a first path segment. */
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import {
  eitherOf,
  errorObject,
  errorText,
  flatNumber,
  meanings,
  type RefusalTable,
  refusalTable
} from "../wire/refusalTable.ts"
import { rootOf } from "../wire/vendorRequest.ts"

/**
 * The relay's own errors, also as a bare text. What it cannot do is told by the status: its codes stand
 * in answers of success as well, and what they leave behind is not known.
 */
export const relayRefusals = refusalTable([errorObject, errorText, flatNumber], {
  rate_limit_exceeded: meanings.rate,
  too_many_requests: meanings.rate
})

/** What comes from the relay is an error of its own, or of the vendor behind it. */
export const relayedRefusals = (vendor: RefusalTable): RefusalTable =>
  eitherOf(vendor, relayRefusals)

/** First path segment of each family. */
const segments: Readonly<Record<RelayFamily, string>> = {
  a: "doubao",
  d: "kling",
  e: "vidu",
  f: "qwen"
}

/**
 * What operators write behind the host: the version of the relay's own chat interface, or that of a
 * vendor behind it, also with its family.
 */
const versions = ["", ...Object.values(segments).map((segment) => `/${segment}`)]
  .flatMap((family) => ["/api/v1", "/ent/v2", "/v1"].map((version) => `${family}${version}`))
  .toSorted((one, other) => other.length - one.length)

/** The account at one of the families. */
export const familyAccount = (account: ChannelAccount, family: RelayFamily): ChannelAccount => ({
  ...account,
  baseUrl: `${rootOf(account, ...versions)}/${segments[family]}`
})
