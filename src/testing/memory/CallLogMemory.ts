/** The log of vendor calls in memory, in the order in which they were reported. */
import { Clock, Effect, FiberSet, Layer, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../../runtime/Settings.ts"
import {
  CallLog,
  type CallLogShape,
  type CallSubject,
  type VendorCall
} from "../../services/CallLog.ts"
import { MemoryStore, type StoredCall } from "./MemoryStore.ts"

const isSameEnd = (last: StoredCall | undefined, subject: CallSubject, call: VendorCall) =>
  last !== undefined &&
  last.purpose === "poll" &&
  subject.purpose === "poll" &&
  last.outcome === call.outcome

const DAY_MILLIS = 86_400_000

export const layerCallLogMemory = Layer.effect(
  CallLog,
  Effect.gen(function* () {
    const { calls } = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const { callLogDays } = yield* Settings
    const describing = yield* FiberSet.make<void>()
    const orderPermit = yield* Semaphore.make(1)

    const addCall = (id: string, subject: CallSubject, call: VendorCall): void => {
      const at = calls.findLastIndex(
        (loggedCall) =>
          loggedCall.subject.organizationId === subject.organizationId &&
          loggedCall.subject.jobId === subject.jobId
      )
      const last = calls[at]
      if (last !== undefined && isSameEnd(last, subject, call)) {
        const { durationMillis, answer, startedAt: lastAt } = call
        calls[at] = { ...last, durationMillis, answer, lastAt, repeats: last.repeats + 1 }
      } else {
        const { channelId, purpose } = subject
        const lastAt = call.startedAt
        calls.push({ ...call, id, subject, channelId, purpose, repeats: 0, lastAt })
      }
    }

    const record: CallLogShape["record"] = (subject, { describe }) =>
      Effect.gen(function* () {
        addCall(`uc_${yield* random.uuidV7()}`, subject, describe())
      }).pipe(
        // The cause is not logged, because it may quote data that should be redacted.
        Effect.catchCause(() =>
          Effect.logWarning("call log: call dropped, its description failed")
        ),
        orderPermit.withPermit,
        FiberSet.run(describing),
        Effect.asVoid
      )

    const prune = Effect.map(Clock.currentTimeMillis, (now) => {
      const oldest = now - callLogDays * DAY_MILLIS
      const isKept = (millis: number) => millis - (millis % DAY_MILLIS) + DAY_MILLIS > oldest
      calls.splice(0, calls.length, ...calls.filter(({ startedAt }) => isKept(startedAt.getTime())))
    })

    return { record, flush: FiberSet.awaitEmpty(describing), prune }
  })
)
