/** Requests about the tasks of the cloud, which are the same for videos and images. */
import { Result } from "effect"
import type { ChannelAccount, JobRef } from "../../services/ProtocolAdapter.ts"
import { bearer, cloudUrl, get, postEmpty } from "../wire/vendorRequest.ts"
import type { CancelDialect } from "./adapterCalls.ts"
import { flatFailure } from "./flatErrors.ts"
import { readCancelledWith } from "./videoStatus.ts"

const taskUrl = (account: ChannelAccount, upstreamId: string): string =>
  cloudUrl(account, `tasks/${encodeURIComponent(upstreamId)}`)

export const cloudPollRequest = (account: ChannelAccount, { upstreamId }: JobRef) =>
  Result.succeed(get(taskUrl(account, upstreamId), bearer(account)))

/** The vendor cancels pending tasks alone, and refuses others by this code. */
export const cloudCancel: CancelDialect<JobRef> = {
  jobs: "unfinished",
  cancelRequest: (account, { upstreamId }) =>
    Result.succeed(postEmpty(`${taskUrl(account, upstreamId)}/cancel`, bearer(account))),
  readCancelled: readCancelledWith(flatFailure, (code) => code === "UnsupportedOperation")
}
