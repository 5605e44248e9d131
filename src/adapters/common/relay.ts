/** The relay behind vp_c and ip_c: one host and key, its families under a first path segment. */
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { rootOf } from "../wire/vendorRequest.ts"

/** First path segment of each family. */
const segments: Readonly<Record<RelayFamily, string>> = {
  a: "doubao",
  d: "kling",
  e: "vidu",
  f: "qwen"
}

/**
 * The account at one of the families. The host root is before it: operators tend to write the `/v1`
 * under which the relay has its chat interface.
 */
export const familyAccount = (account: ChannelAccount, family: RelayFamily): ChannelAccount => {
  const root = rootOf(account).replace(/\/v1$/, "").replace(/\/+$/, "")
  return { ...account, baseUrl: `${root}/${segments[family]}` }
}
