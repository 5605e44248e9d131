/**
 * vp_b: content blocks with an application id; the vendor chooses the resolution and bills by
 * tokens.
 */
import { Result, Schema } from "effect"
import { JobId } from "../domain/plainText.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { contentRefusals } from "./common/contentErrors.ts"
import { commonFields, readPolled } from "./vp_a.ts"
import { unusableAnswer } from "./wire/vendorFailures.ts"
import { bearer, get, post, rootOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ task_id: JobId }))

// To the vendor

const tasksUrl = (account: ChannelAccount): string => `${rootOf(account, "/v2")}/v2/video/tasks`

/**
 * The headers of a request. Without an application id the header is left out, and the vendor's
 * error explains what is missing.
 */
const authorizationHeaders = (account: ChannelAccount) => ({
  ...bearer(account),
  ...(account.appId === null ? {} : { "x-application-id": account.appId })
})

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.succeed(post(tasksUrl(account), authorizationHeaders(account), commonFields(order)))

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(
    get(`${tasksUrl(account)}/${encodeURIComponent(upstreamId)}`, authorizationHeaders(account))
  )

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.task_id)
    : Result.fail(unusableAnswer(account, answer))

// Calls

export const makeVpB = videoCalls("vp_b", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => contentRefusals,
  noTask: { upstreamId: "vbt-000000000000" }
})
