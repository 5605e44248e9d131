import type { Result } from "effect"
import type { VendorFailure, VendorRefused } from "../../domain/VendorOutcome.ts"
import type { VideoExtras } from "../../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder, VideoStatus } from "../../services/ProtocolAdapter.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"

export interface Submit {
  /** Below the family's segment, starting with a slash. */
  readonly path: string
  readonly body: object
}

/** How one family of the relay writes its orders and answers. */
export interface Family {
  readonly toSubmit: (order: VideoOrder) => Result.Result<Submit, VendorRefused>
  readonly extras: ReadonlyArray<keyof VideoExtras>
  /** What `pollPath` needs to find the task again. */
  readonly readSubmitted: (
    account: ChannelAccount,
    answer: VendorAnswer,
    submit: Submit
  ) => Result.Result<string, VendorFailure>
  readonly pollPath: (upstreamId: string) => string
  readonly readPolled: (
    account: ChannelAccount,
    answer: VendorAnswer
  ) => Result.Result<VideoStatus, VendorFailure>
}
