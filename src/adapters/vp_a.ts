/** vp_a: task interface with content blocks; billed by the completion tokens it reports. */
import { Result, Schema } from "effect"
import { JobId } from "../domain/plainText.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./shared/adapterCalls.ts"
import { contentFieldsWithTier, extrasWithTier, readContentTask } from "./shared/contentTask.ts"
import { unusable } from "./wire/vendorFailures.ts"
import { bearer, get, post, rootOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))

// To the vendor

/** The interface's root: bases may already end in its version, or in a reseller's `/v1`. */
const tasksUrl = (account: ChannelAccount): string => {
  const base = rootOf(account)
  const root = /\/(?:api\/v3|v1)$/.test(base) ? base : `${base}/api/v3`
  return `${root}/contents/generations/tasks`
}

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.succeed(post(tasksUrl(account), bearer(account), contentFieldsWithTier(order)))

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(`${tasksUrl(account)}/${encodeURIComponent(upstreamId)}`, bearer(account)))

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(unusable(account, answer))

const readPolled: VideoDialect["readPolled"] = (account, answer) =>
  readContentTask(account, answer, unusable)

// Calls

export const makeVpA = videoCalls("vp_a", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  extras: () => extrasWithTier
})
