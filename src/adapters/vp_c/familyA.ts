/** The relay's family a: the content blocks of vp_a on the relay's own paths. */
import { Result, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import { textOf } from "../../domain/video/VideoInput.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import type { VideoDialect } from "../common/adapterCalls.ts"
import { flatFailure } from "../common/flatErrors.ts"
import { allFields, checkContent, readPolledWith } from "../vp_a.ts"
import { bearer, get, omitEmpty, post, rootOf } from "../wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))

// To the vendor

const tasksUrl = (account: ChannelAccount): string => `${rootOf(account)}/v1/videos/generations`

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.map(checkContent(order), () => {
    const body = omitEmpty({ ...allFields(order), prompt: textOf(order.blocks) })
    return post(`${tasksUrl(account)}/submit`, bearer(account), body)
  })

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(`${tasksUrl(account)}/${encodeURIComponent(upstreamId)}`, bearer(account)))

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(flatFailure(account, answer))

const readPolled = readPolledWith(flatFailure)

// Calls: those of vp_c

export const familyA: VideoDialect = {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled
}
