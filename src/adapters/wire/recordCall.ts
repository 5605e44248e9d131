/** Reports a call to a vendor to the call log, without delaying the call. */
import { Cause, Clock, Effect, Exit, Option, Predicate, References } from "effect"
import type { VendorLost, VendorUnreachable } from "../../domain/VendorOutcome.ts"
import { redact } from "../../redaction/bodiesFromCallLog.ts"
import { secretsIn } from "../../redaction/credentialsFromClients.ts"
import { plainAddress } from "../../redaction/patterns.ts"
import {
  type AnsweredCall,
  type CallSubject,
  CurrentCallSubjects,
  type VendorCall
} from "../../services/CallLog.ts"
import type { VendorAnswer } from "./vendorAnswer.ts"
import type { VendorRequest } from "./vendorRequest.ts"

type Answer = Pick<VendorAnswer, "status" | "body" | "bytes" | "requestId">

type CallExit = Exit.Exit<Answer, VendorLost | VendorUnreachable>

/** The approximate number of characters of text in a body. */
const weigh = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + weigh(item), 0)
  return Predicate.isObject(value) ? weigh(Object.values(value)) : 8
}

/**
 * The outcome of the call: the vendor's status, if an answer came, and the kind of failure, if it
 * failed.
 */
const endOf = (exit: CallExit): Pick<VendorCall, "status" | "failure"> => {
  if (Exit.isSuccess(exit)) return { status: exit.value.status, failure: null }
  const failure = Option.getOrNull(Cause.findErrorOption(exit.cause))
  if (failure === null) return { status: null, failure: "interrupted" }
  return failure._tag === "VendorLost"
    ? { status: failure.status, failure: failure.reason }
    : { status: null, failure: "unreachable" }
}

const answeredCallFrom = (
  exit: CallExit,
  startedAt: number,
  endedAt: number
): AnsweredCall | null => {
  if (Exit.isFailure(exit)) return null
  const { status, bytes, requestId } = exit.value
  const durationMillis = Math.max(0, endedAt - startedAt)
  return { startedAt: new Date(startedAt), durationMillis, status, bytes, requestId }
}

const describeCall = (
  request: VendorRequest,
  exit: CallExit,
  startedAt: number,
  endedAt: number,
  /** If the answer is about several jobs, only the entry of this job is recorded. */
  upstreamId: string | null
): VendorCall => {
  const secrets = secretsIn(request.headers)
  const recordedRequest =
    request.body === null
      ? null
      : redact(request.body, { secrets, requestTexts: null, itemId: null })
  const recordedAnswer = Exit.isSuccess(exit)
    ? redact(exit.value.body, {
        secrets,
        requestTexts: recordedRequest?.texts ?? null,
        itemId: upstreamId
      })
    : null
  const { status, failure } = endOf(exit)
  return {
    method: request.method,
    url: plainAddress(request.url) ?? "",
    status,
    failure,
    startedAt: new Date(startedAt),
    durationMillis: Math.max(0, endedAt - startedAt),
    request: recordedRequest?.value ?? null,
    answer: recordedAnswer?.value ?? null,
    outcome: `${failure ?? status} ${recordedAnswer?.outcome ?? ""}`.trimEnd()
  }
}

/** Runs the call and reports it when it has ended, with success, failure or interruption. */
export const recordCall = <A extends Answer, E extends VendorLost | VendorUnreachable>(
  request: VendorRequest,
  call: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const current = fiber.getRef(CurrentCallSubjects)
    const tracedCall = fiber.getRef(References.TracerEnabled)
      ? Effect.withSpan(call, `vendor ${request.method}`, { kind: "client" })
      : call
    if (current === null) return tracedCall
    const { subjects, log } = current
    const clock = fiber.getRef(Clock.Clock)
    const startedAt = clock.currentTimeMillisUnsafe()
    return Effect.onExitPrimitive(tracedCall, (exit) => {
      const endedAt = clock.currentTimeMillisUnsafe()
      const answeredCall = answeredCallFrom(exit, startedAt, endedAt)
      const weighCall = () => weigh(request.body) + (answeredCall?.bytes ?? 0)
      const report = (subject: CallSubject) => {
        const singleUpstreamId = subjects.length > 1 ? subject.upstreamId : null
        const describe = () => describeCall(request, exit, startedAt, endedAt, singleUpstreamId)
        return log.record(subject, { answeredCall, weigh: weighCall, describe })
      }
      const [first] = subjects
      return subjects.length === 1 && first !== undefined
        ? report(first)
        : Effect.forEach(subjects, report, { discard: true })
    })
  })
