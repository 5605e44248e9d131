/** Channels that are all well, and whose calls nobody counts. */
import { Effect, Layer } from "effect"
import { layerChannelHealth } from "../../src/channels/ChannelHealth.ts"
import { ChannelRecords } from "../../src/services/channels/ChannelRecords.ts"

export const layerWellChannels = layerChannelHealth.pipe(
  Layer.provide(
    Layer.mock(ChannelRecords, { cooldowns: Effect.succeed([]), add: () => Effect.succeed([]) })
  )
)
