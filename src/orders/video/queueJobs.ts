/** Background jobs of the queues of channels: submits of waiting videos, and their ends. */
import { Effect, Layer } from "effect"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { ChannelQueue } from "../../services/channels/ChannelQueue.ts"
import { Orders } from "../Orders.ts"

/** A sweep looks at every place, and runs this many times more rarely than the look at the queue. */
const SWEEP_SHARE = 5

export const layerQueueJobs = Layer.effectDiscard(
  Effect.gen(function* () {
    const orders = yield* Orders
    const queue = yield* ChannelQueue
    const { pollerSeconds } = yield* Settings
    yield* startJob({
      name: "channel queue",
      interval: `${pollerSeconds} seconds`,
      wakeUp: queue.changed,
      run: orders.dispatchQueue,
      // The orders keep their sequence, and a later run submits them.
      onFailure: (cause) => Effect.logError("channel queue: claiming orders failed", cause)
    })
    yield* startJob({
      name: "channel queue sweep",
      interval: `${SWEEP_SHARE * pollerSeconds} seconds`,
      run: orders.sweepQueue,
      // Expired orders wait on, and places stay taken, until a later run succeeds.
      onFailure: (cause) => Effect.logError("channel queue: freeing places failed", cause)
    })
  })
)
