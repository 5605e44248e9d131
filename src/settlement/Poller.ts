/** Settles tasks nobody asks for, and gives back what crashes left behind. */
import { Effect, Layer, Schedule } from "effect"
import { CallLog } from "../services/CallLog.ts"
import { Settings } from "../services/Settings.ts"
import { VideoSettlement } from "../services/VideoSettlement.ts"

/** A round that fails is logged, and the next one comes all the same. */
const steadily = (name: string, seconds: number, round: Effect.Effect<unknown>) =>
  round.pipe(
    Effect.catchCause((cause) => Effect.logError(`${name} failed`, cause)),
    Effect.repeat(Schedule.spaced(`${seconds} seconds`)),
    Effect.forkScoped
  )

const PRUNE_EVERY_SECONDS = 3600

export const layerPoller = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* VideoSettlement
    const callLog = yield* CallLog
    const { pollerSeconds } = yield* Settings
    yield* steadily(
      "the poller",
      pollerSeconds,
      Effect.repeat(settlement.pollDue, { while: (more) => more })
    )
    yield* steadily("the sweep", pollerSeconds, settlement.sweep)
    yield* steadily("the call log's retention", PRUNE_EVERY_SECONDS, callLog.prune)
  })
)

/** Done before the first request is served: what is half done then was left by a crash. */
export const layerRecovery = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* VideoSettlement
    const { soleGateway } = yield* Settings
    if (soleGateway) yield* settlement.recover
  })
)
