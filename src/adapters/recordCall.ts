/** Reports a call to a vendor to whoever takes note of it, without holding it up. */
import { Cause, Clock, Effect, Exit, Predicate } from "effect"
import type { HttpClientRequest } from "effect/http"
import type { VendorLost, VendorUnreachable } from "../domain/VendorOutcome.ts"
import { type CallSubject, CurrentCallSubjects, type VendorCall } from "../services/CallLog.ts"
import { plainAddress, redact } from "./redaction.ts"

/** A whole answer: its status, and its JSON decoded. */
interface Answer {
  readonly status: number
  readonly body: unknown
}

type Ended = Exit.Exit<Answer, VendorLost | VendorUnreachable>

/** Headers that hold no credential; every other header's value is taken for one. */
const harmless: ReadonlySet<string> = new Set([
  "accept",
  "content-length",
  "content-type",
  "user-agent",
  "x-dashscope-async"
])

/** With the token of `Bearer <token>` and the like on its own. */
const secretsOf = ({ headers }: HttpClientRequest.HttpClientRequest): ReadonlyArray<string> =>
  Object.entries(headers)
    .filter(([name]) => !harmless.has(name.toLowerCase()))
    .flatMap(([, value]) => [value, value.slice(value.indexOf(" ") + 1)])
    .filter((value) => value !== "")
    .flatMap((value) => [value, encodeURIComponent(value.toWellFormed())])

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string | null =>
  body._tag === "Uint8Array" ? (body.text ?? null) : null

/** Characters of text in a decoded answer, roughly. */
const weigh = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + weigh(item), 0)
  return Predicate.isObject(value) ? weigh(Object.values(value)) : 8
}

const failureOf = (ended: Ended): VendorCall["failure"] => {
  if (Exit.isSuccess(ended)) return null
  const failure = Cause.findErrorOption(ended.cause)
  if (failure._tag === "None") return "interrupted"
  return failure.value._tag === "VendorLost" ? failure.value.reason : "unreachable"
}

const statusOf = (ended: Ended): number | null => {
  if (Exit.isSuccess(ended)) return ended.value.status
  const failure = Cause.findErrorOption(ended.cause)
  return failure._tag === "Some" && failure.value._tag === "VendorLost"
    ? failure.value.status
    : null
}

const describe = Effect.fnUntraced(function* (
  request: HttpClientRequest.HttpClientRequest,
  ended: Ended,
  startedAt: number,
  endedAt: number,
  /** Of an answer about several jobs, only this one's entry is kept. */
  only: string | null
) {
  const secrets = secretsOf(request)
  const body = bodyOf(request)
  const sent =
    body === null ? null : yield* redact(JSON.parse(body), { secrets, sent: null, only: null })
  const answer = Exit.isSuccess(ended)
    ? yield* redact(ended.value.body, { secrets, sent: sent?.texts ?? null, only })
    : null
  const status = statusOf(ended)
  const failure = failureOf(ended)
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
  } satisfies VendorCall
})

/** The same call, reported when it has ended, whatever its end. */
export const recordCall = <A extends Answer, E extends VendorLost | VendorUnreachable>(
  request: HttpClientRequest.HttpClientRequest,
  call: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const current = yield* CurrentCallSubjects
    if (current === null) return yield* call
    const { subjects, log } = current
    const startedAt = yield* Clock.currentTimeMillis
    const report = (ended: Ended, endedAt: number) => (subject: CallSubject) =>
      log.record(subject, {
        weight:
          (bodyOf(request)?.length ?? 0) + (Exit.isSuccess(ended) ? weigh(ended.value.body) : 0),
        describe: describe(
          request,
          ended,
          startedAt,
          endedAt,
          subjects.length > 1 ? subject.upstreamId : null
        )
      })
    return yield* Effect.onExit(call, (ended) =>
      Effect.flatMap(Clock.currentTimeMillis, (endedAt) =>
        Effect.forEach(subjects, report(ended, endedAt), { discard: true })
      )
    )
  })
