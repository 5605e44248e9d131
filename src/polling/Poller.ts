/** Settles tasks that no client reads, and gives back what crashes left behind. */
import { Effect, Layer } from "effect"
import { Settings } from "../runtime/Settings.ts"
import { CallLog } from "../services/CallLog.ts"
import { ChannelCredentials, SUPERSEDED_SECONDS } from "../services/channels/ChannelCredentials.ts"
import { IdempotencyKeys } from "../services/IdempotencyKeys.ts"
import { PollerPulse } from "../services/Operations.ts"
import { TaskSettlement } from "./TaskSettlement.ts"

/** A round that fails is logged, and the next one comes all the same. */
const steadily = (name: string, round: Effect.Effect<unknown>, pause: Effect.Effect<unknown>) =>
  round.pipe(
    Effect.catchCause((cause) => Effect.logError(`${name} failed`, cause)),
    Effect.andThen(pause),
    Effect.forever,
    Effect.forkScoped
  )

const PRUNE_EVERY_SECONDS = 3600

export const layerPoller = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* TaskSettlement
    const pulse = yield* PollerPulse
    const callLog = yield* CallLog
    const idempotencyKeys = yield* IdempotencyKeys
    const credentials = yield* ChannelCredentials
    const { pollerSeconds } = yield* Settings
    const pause = Effect.sleep(`${pollerSeconds} seconds`)
    const rounds = Effect.repeat(Effect.tap(settlement.pollDue, pulse.beat), {
      while: (more) => more
    })
    yield* steadily("the poller", rounds, Effect.raceFirst(pause, settlement.room))
    yield* steadily("the sweep", settlement.sweep, pause)
    const rarely = Effect.sleep(`${PRUNE_EVERY_SECONDS} seconds`)
    yield* steadily("the call log's retention", callLog.prune, rarely)
    yield* steadily("the retention of idempotency keys", idempotencyKeys.purge, rarely)
    const forget = credentials.forgetSuperseded(SUPERSEDED_SECONDS)
    yield* steadily("the retention of channel accounts", forget, rarely)
  })
)

/** Done before the first request is served: what is half done then was left by a crash. */
export const layerRecovery = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlement = yield* TaskSettlement
    const { soleGateway } = yield* Settings
    if (soleGateway) yield* settlement.recover
  })
)
