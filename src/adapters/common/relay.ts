/** The relay behind vp_c and ip_c: one host and key, its families under a first path segment. */
import { RELAYED_STANDARD_MODELS } from "../../domain/image/ImageProtocol.ts"
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { rootOf } from "../wire/vendorRequest.ts"

/** First path segment of each video family. */
export const videoSegments = {
  a: "doubao",
  d: "kling",
  e: "vidu",
  f: "qwen"
} as const satisfies Record<RelayFamily, string>

export interface ImageRow {
  /** How the family's models begin on the relay; any other model is of the first row. */
  readonly prefix: string
  readonly segment: string
  /** The vendor's messages, as ip_b sends them, or the common standard form, as ip_a does. */
  readonly form: "messages" | "standard"
}

const messagesRow: ImageRow = { prefix: "", segment: videoSegments.f, form: "messages" }

const imageRows: ReadonlyArray<ImageRow> = [
  { prefix: RELAYED_STANDARD_MODELS, segment: videoSegments.a, form: "standard" }
]

/** The family of an image model, by its name on the relay. */
export const imageRowOf = (upstreamModel: string): ImageRow =>
  imageRows.find(({ prefix }) => upstreamModel.startsWith(prefix)) ?? messagesRow

/** The host root: operators tend to write the `/v1` under which the relay has its chat interface. */
export const relayRoot = (account: ChannelAccount): string =>
  rootOf(account).replace(/\/v1$/, "").replace(/\/+$/, "")
