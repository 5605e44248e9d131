/** vp_b: content blocks under an application id; renders its own clarity, billed by tokens. */
import { Effect, Schema } from "effect"
import { JobId } from "../domain/plainText.ts"
import type { ChannelAccount, VideoAdapter } from "../services/ProtocolAdapter.ts"
import { contentFields, isContentTask, toTaskStatus } from "./contentTask.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { brokenAnswer, unusable } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { bearer, get, post } from "./wire/vendorRequest.ts"

// Wire schemas

const Submitted = Schema.Struct({ task_id: JobId })

const isSubmitted = Schema.is(Submitted)

// To the vendor

const APPLICATION_HEADER = "x-application-id"

const tasksUrl = (baseUrl: string): string => `${baseUrl.replace(/\/+$/, "")}/v2/video/tasks`

/** Without an id no header goes out, and the vendor says what is missing. */
const authorized = (account: ChannelAccount) => ({
  ...bearer(account),
  ...(account.appId === null ? {} : { [APPLICATION_HEADER]: account.appId })
})

// Calls

export const makeVpB = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const submit: VideoAdapter["submit"] = Effect.fn("vp_b.submit")(function* (account, order) {
    const request = post(tasksUrl(account.baseUrl), authorized(account), contentFields(order))
    const answer = yield* send(wire, request, limits.submit)
    return answer.status < 300 && isSubmitted(answer.body)
      ? answer.body.task_id
      : yield* Effect.fail(unusable(account, answer))
  })

  const poll: VideoAdapter["poll"] = Effect.fnUntraced(function* (account, task) {
    const url = `${tasksUrl(account.baseUrl)}/${encodeURIComponent(task.upstreamId)}`
    const answer = yield* send(wire, get(url, authorized(account)), limits.poll)
    if (answer.status === 404) return { _tag: "Unknown" as const }
    if (answer.status >= 300 || !isContentTask(answer.body)) {
      return yield* Effect.fail(unusable(account, answer))
    }
    const status = toTaskStatus(account, answer.body)
    return status ?? (yield* brokenAnswer(answer))
  })

  return { submit, poll } satisfies VideoAdapter
})
