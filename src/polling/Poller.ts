/**
 * Background jobs: polling due tasks, whether or not a client reads them; releasing overdue holds
 * that crashes left open; and deleting old rows.
 */
import { Effect, Layer } from "effect"
import { startJob } from "../runtime/backgroundJobs.ts"
import { Settings } from "../runtime/Settings.ts"
import { CallLog } from "../services/CallLog.ts"
import { Catalog } from "../services/Catalog.ts"
import { ChannelCredentials, SUPERSEDED_SECONDS } from "../services/channels/ChannelCredentials.ts"
import { IdempotencyKeys } from "../services/IdempotencyKeys.ts"
import { oldestLateHoldSeconds, pollerSilenceSeconds } from "../services/metrics.ts"
import { PollerPulse } from "../services/Operations.ts"
import { TaskSettlement } from "./TaskSettlement.ts"

const startRetention = (subject: string, run: Effect.Effect<unknown>) =>
  startJob({
    name: `${subject} retention`,
    interval: "1 hour",
    run,
    onFailure: (cause) => Effect.logError(`${subject}: deleting old rows failed`, cause)
  })

export const layerPoller = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* TaskSettlement
    const catalog = yield* Catalog
    const pulse = yield* PollerPulse
    const callLog = yield* CallLog
    const idempotencyKeys = yield* IdempotencyKeys
    const credentials = yield* ChannelCredentials
    const { pollerSeconds } = yield* Settings
    yield* startJob({
      name: "task poller",
      interval: `${pollerSeconds} seconds`,
      wakeUp: settlement.room,
      // A gateway without requests reads the catalog here, and learns of new vendors by it.
      run: Effect.andThen(
        catalog.snapshot,
        Effect.repeat(Effect.tap(settlement.pollDue, pulse.beat), {
          while: (hasMore) => hasMore
        })
      ),
      // After failures, readiness fails when no run has succeeded for a while.
      onFailure: (cause) => Effect.logError("task poller: claiming due tasks failed", cause),
      metric: pollerSilenceSeconds
    })
    yield* startJob({
      name: "task sweep",
      interval: `${pollerSeconds} seconds`,
      run: settlement.sweep,
      // After a failure, overdue holds stay open until a later run closes them.
      onFailure: (cause) => Effect.logError("task sweep: closing overdue holds failed", cause),
      metric: oldestLateHoldSeconds
    })
    yield* startRetention("call log", callLog.prune)
    yield* startRetention("idempotency keys", idempotencyKeys.purge)
    yield* startRetention("channel accounts", credentials.forgetSuperseded(SUPERSEDED_SECONDS))
  })
)

/**
 * Recovers before the first request is served: an order that is incomplete at this time was
 * interrupted by a crash. Only a gateway that is alone on its database recovers.
 */
export const layerRecovery = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* TaskSettlement
    const { soleGateway } = yield* Settings
    if (soleGateway) yield* settlement.recover
  })
)
