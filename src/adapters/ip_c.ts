/** ip_c: images from the relay; the name of the upstream model selects one of its two families. */
import { Result } from "effect"
import {
  imageFamilyOf,
  imageProtocols,
  relayedStandardModels
} from "../domain/image/ImageProtocol.ts"
import { imageCount } from "../domain/image/ImageRequest.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { type ImageDialect, imageCalls } from "./common/adapterCalls.ts"
import { cloudRefusals } from "./common/flatErrors.ts"
import { familyAccount, relayedRefusals } from "./common/relay.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import * as ip_a from "./ip_a.ts"
import { readMessages, taskCheck, toEnvelope } from "./ip_b.ts"
import { bearer, post, rootOf } from "./wire/vendorRequest.ts"

// Wire schemas: those of ip_a and ip_b

// To the vendor

/**
 * Whether an order goes to family a, which accepts the common standard form as ip_a sends it;
 * family f accepts the messages of ip_b.
 */
const isStandard = ({ upstreamModel }: ImageOrder): boolean =>
  relayedStandardModels.test(upstreamModel)

const familyUrl = (account: ChannelAccount, order: ImageOrder): string =>
  rootOf(familyAccount(account, isStandard(order) ? "a" : "f"))

const tasksUrl = (account: ChannelAccount): string =>
  `${rootOf(familyAccount(account, "f"))}/api/v1/tasks/image`

const generateRequest: ImageDialect["generateRequest"] = (account, order) => {
  const { body, edit = null, upstreamModel: model } = order
  // The family has no path for edits: references are a field of a generation order.
  const pictures = edit === null ? {} : { image: edit.references }
  const [path, content]: readonly [string, object] = isStandard(order)
    ? ["/v1/images/generations", { ...body, ...pictures, model, n: imageCount(body) }]
    : ["/api/v1/services/aigc/image-generation/generation", toEnvelope(order)]
  return Result.succeed(post(`${familyUrl(account, order)}${path}`, bearer(account), content))
}

// From the vendor

const standardFamily = relayedRefusals(standardRefusals)
const messageFamily = relayedRefusals(cloudRefusals)

const readGenerated: ImageDialect["readGenerated"] = (account, answer, order) =>
  isStandard(order)
    ? ip_a.readGenerated(account, answer, order)
    : readMessages(account, answer, order, tasksUrl(account))

// Calls

export const makeIpC = imageCalls("ip_c", {
  generateRequest,
  readGenerated,
  isOneByOne: ({ upstreamModel }) =>
    imageFamilyOf(imageProtocols.ip_c, upstreamModel).isOneByOne === true,
  refusals: (order) => (isStandard(order) ? standardFamily : messageFamily),
  // The account check polls a task of family f that does not exist: family a has no tasks, and the
  // key is the same.
  check: taskCheck(tasksUrl, messageFamily)
})
