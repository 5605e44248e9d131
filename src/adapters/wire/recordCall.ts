/** Reports a call to a vendor to the log of calls, without holding it up. */
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

type Ended = Exit.Exit<Answer, VendorLost | VendorUnreachable>

/** Characters of text in a body, roughly. */
const weigh = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + weigh(item), 0)
  return Predicate.isObject(value) ? weigh(Object.values(value)) : 8
}

/** How the call ended: the vendor's status, where one came, and what went wrong, if anything did. */
const endOf = (ended: Ended): Pick<VendorCall, "status" | "failure"> => {
  if (Exit.isSuccess(ended)) return { status: ended.value.status, failure: null }
  const failure = Option.getOrNull(Cause.findErrorOption(ended.cause))
  if (failure === null) return { status: null, failure: "interrupted" }
  return failure._tag === "VendorLost"
    ? { status: failure.status, failure: failure.reason }
    : { status: null, failure: "unreachable" }
}

const answeredOf = (ended: Ended, startedAt: number, endedAt: number): AnsweredCall | null => {
  if (Exit.isFailure(ended)) return null
  const { status, bytes, requestId } = ended.value
  const durationMillis = Math.max(0, endedAt - startedAt)
  return { startedAt: new Date(startedAt), durationMillis, status, bytes, requestId }
}

const describeCall = (
  request: VendorRequest,
  ended: Ended,
  startedAt: number,
  endedAt: number,
  /** Of an answer about several jobs, only this one's entry is kept. */
  only: string | null
): VendorCall => {
  const secrets = secretsIn(request.headers)
  const sent =
    request.body === null ? null : redact(request.body, { secrets, sent: null, only: null })
  const answer = Exit.isSuccess(ended)
    ? redact(ended.value.body, { secrets, sent: sent?.texts ?? null, only })
    : null
  const { status, failure } = endOf(ended)
  return {
    method: request.method,
    url: plainAddress(request.url) ?? "",
    status,
    failure,
    startedAt: new Date(startedAt),
    durationMillis: Math.max(0, endedAt - startedAt),
    request: sent?.value ?? null,
    answer: answer?.value ?? null,
    outcome: `${failure ?? status} ${answer?.outcome ?? ""}`.trimEnd()
  }
}

/** The same call, reported when it has ended, whatever its end. */
export const recordCall = <A extends Answer, E extends VendorLost | VendorUnreachable>(
  request: VendorRequest,
  call: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const current = fiber.getRef(CurrentCallSubjects)
    const traced = fiber.getRef(References.TracerEnabled)
      ? Effect.withSpan(call, `vendor ${request.method}`, { kind: "client" })
      : call
    if (current === null) return traced
    const { subjects, log } = current
    const clock = fiber.getRef(Clock.Clock)
    const startedAt = clock.currentTimeMillisUnsafe()
    return Effect.onExit(traced, (ended) => {
      const endedAt = clock.currentTimeMillisUnsafe()
      const answered = answeredOf(ended, startedAt, endedAt)
      const weighCall = () => weigh(request.body) + (answered?.bytes ?? 0)
      const report = (subject: CallSubject) => {
        const only = subjects.length > 1 ? subject.upstreamId : null
        const describe = () => describeCall(request, ended, startedAt, endedAt, only)
        return log.record(subject, { answered, weigh: weighCall, describe })
      }
      return Effect.forEach(subjects, report, { discard: true })
    })
  })
