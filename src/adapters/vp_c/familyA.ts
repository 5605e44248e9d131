/** The relay's family a: the content blocks of vp_a on the relay's own paths. */
import { Result, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import { textOf } from "../../domain/video/VideoRequest.ts"
import { contentFieldsWithTier, extrasWithTier, readContentTask } from "../shared/contentTask.ts"
import { flatFailure } from "../shared/flatErrors.ts"
import type { Family } from "./Family.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))

// To the vendor

const TASKS = "/v1/videos/generations"

const toSubmit: Family["toSubmit"] = (order) => {
  const prompt = textOf(order.blocks)
  return Result.succeed({
    path: `${TASKS}/submit`,
    body: { ...contentFieldsWithTier(order), ...(prompt === "" ? {} : { prompt }) }
  })
}

const pollPath: Family["pollPath"] = (upstreamId) => `${TASKS}/${encodeURIComponent(upstreamId)}`

// From the vendor

const readSubmitted: Family["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(flatFailure(account, answer))

const readPolled: Family["readPolled"] = (account, answer) =>
  readContentTask(account, answer, flatFailure)

// Calls: those of vp_c

export const familyA: Family = {
  toSubmit,
  readSubmitted,
  pollPath,
  readPolled,
  extras: extrasWithTier
}
