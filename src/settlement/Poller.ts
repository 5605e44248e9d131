/** Settles tasks nobody asks for, and gives back what crashes left behind. */
import { Effect, Layer } from "effect"
import { CallLog } from "../services/CallLog.ts"
import { PollerPulse } from "../services/PollerPulse.ts"
import { Settings } from "../services/Settings.ts"
import { VideoSettlement } from "../services/VideoSettlement.ts"

/** A round that fails is logged, and the next one comes all the same. */
const steadily = (name: string, round: Effect.Effect<unknown>, pause: Effect.Effect<unknown>) =>
  round.pipe(
    Effect.catchCause((cause) => Effect.logError(`${name} failed`, cause)),
    Effect.andThen(pause),
    Effect.forever,
    Effect.forkScoped
  )

const PRUNE_EVERY = "1 hour"

export const layerPoller = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* VideoSettlement
    const callLog = yield* CallLog
    const pulse = yield* PollerPulse
    const { pollerSeconds } = yield* Settings
    const pause = Effect.sleep(`${pollerSeconds} seconds`)
    const rounds = Effect.repeat(Effect.tap(settlement.pollDue, pulse.beat), {
      while: (more) => more
    })
    yield* steadily("the poller", rounds, Effect.raceFirst(pause, settlement.room))
    yield* steadily("the sweep", settlement.sweep, pause)
    yield* steadily("the call log's retention", callLog.prune, Effect.sleep(PRUNE_EVERY))
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
