/** The relay's family a: the content blocks of vp_a on the relay's own paths. */
import { Result, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import { textOf } from "../../domain/video/VideoInput.ts"
import {
  contentFieldsWithTier,
  extrasWithTier,
  isContentTask,
  toTaskStatus
} from "../contentTask.ts"
import { flatFailure } from "../flatErrors.ts"
import { brokenAnswer } from "../wire/vendorFailures.ts"
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

// From the vendor

const readSubmitted: Family["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(flatFailure(account, answer))

const readPolled: Family["readPolled"] = (account, answer) => {
  if (answer.status >= 300 || !isContentTask(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const status = toTaskStatus(account, answer.body)
  return status === null ? Result.fail(brokenAnswer(answer)) : Result.succeed(status)
}

export const familyA: Family = {
  toSubmit,
  extras: extrasWithTier,
  readSubmitted,
  pollPath: (upstreamId) => `${TASKS}/${encodeURIComponent(upstreamId)}`,
  readPolled
}
