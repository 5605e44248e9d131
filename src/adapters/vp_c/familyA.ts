/** The relay's family a: the content blocks of vp_a on the relay's own paths. */
import { Result, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import { textOf } from "../../domain/video/VideoInput.ts"
import { flatFailure } from "../common/flatErrors.ts"
import { allFields, extras, readTask } from "../vp_a.ts"
import { given } from "../wire/vendorRequest.ts"
import type { Family } from "./Family.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))

// To the vendor

const TASKS = "/v1/videos/generations"

const toSubmit: Family["toSubmit"] = (order) =>
  Result.succeed({
    path: `${TASKS}/submit`,
    body: given({ ...allFields(order), prompt: textOf(order.blocks) })
  })

const pollPath: Family["pollPath"] = (upstreamId) => `${TASKS}/${encodeURIComponent(upstreamId)}`

// From the vendor

const readSubmitted: Family["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(flatFailure(account, answer))

const readPolled: Family["readPolled"] = (account, answer) => readTask(account, answer, flatFailure)

// Calls: those of vp_c

export const familyA: Family = {
  toSubmit,
  readSubmitted,
  pollPath,
  readPolled,
  extras
}
