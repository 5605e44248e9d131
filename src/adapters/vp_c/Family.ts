/** How one family of the relay writes its orders and answers. */
import type { Result } from "effect"
import type { VendorRefused } from "../../domain/VendorOutcome.ts"
import type { VideoExtras } from "../../domain/video/VideoInput.ts"
import type { VideoOrder } from "../../services/ProtocolAdapter.ts"
import type { VideoDialect } from "../common/adapterCalls.ts"

export interface Submit {
  /** Below the family's segment, starting with a slash. */
  readonly path: string
  readonly body: object
}

export interface Family extends Pick<VideoDialect, "readSubmitted" | "readPolled"> {
  readonly toSubmit: (order: VideoOrder) => Result.Result<Submit, VendorRefused>
  readonly pollPath: (upstreamId: string) => string
  readonly extras: ReadonlyArray<keyof VideoExtras>
}
