/** vp_a: task interface with content blocks; billed by the completion tokens it reports. */
import { Effect, Schema } from "effect"
import { JobId } from "../domain/plainText.ts"
import type { VideoAdapter } from "../services/ProtocolAdapter.ts"
import {
  contentFieldsWithTier,
  extrasWithTier,
  isContentTask,
  toTaskStatus
} from "./contentTask.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { brokenAnswer, unusable } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { bearer, get, post } from "./wire/vendorRequest.ts"

// Wire schemas

const Submitted = Schema.Struct({ id: JobId })

const isSubmitted = Schema.is(Submitted)

// To the vendor

/** The interface's root: bases may already end in its version, or in a reseller's `/v1`. */
const tasksUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  const root = /\/(?:api\/v3|v1)$/.test(base) ? base : `${base}/api/v3`
  return `${root}/contents/generations/tasks`
}

// Calls

export const makeVpA = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const submit: VideoAdapter["submit"] = Effect.fn("vp_a.submit")(function* (account, order) {
    const request = post(tasksUrl(account.baseUrl), bearer(account), contentFieldsWithTier(order))
    const answer = yield* send(wire, request, limits.submit)
    return answer.status < 300 && isSubmitted(answer.body)
      ? answer.body.id
      : yield* Effect.fail(unusable(account, answer))
  })

  const poll: VideoAdapter["poll"] = Effect.fnUntraced(function* (account, task) {
    const url = `${tasksUrl(account.baseUrl)}/${encodeURIComponent(task.upstreamId)}`
    const request = get(url, bearer(account))
    const answer = yield* send(wire, request, limits.poll)
    if (answer.status === 404) return { _tag: "Unknown" as const }
    if (answer.status >= 300 || !isContentTask(answer.body)) {
      return yield* Effect.fail(unusable(account, answer))
    }
    const status = toTaskStatus(account, answer.body)
    return status ?? (yield* brokenAnswer(answer))
  })

  return { submit, poll, extras: () => extrasWithTier } satisfies VideoAdapter
})
